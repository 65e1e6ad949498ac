// Type-aware rules need the compiler's JavaScript API. TypeScript 7 has none, so `typescript` is version 6 in package.json,
// for eslint alone, and `tsc` comes from `@typescript/native`.
import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";

export default defineConfig(
  tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      // `() => act()` is fine where nothing is returned; braces would only add bytes to the page.
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
    },
  },
  { files: ["**/*.js"], extends: [tseslint.configs.disableTypeChecked] },
);
