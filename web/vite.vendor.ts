/** Builds what is served from the package and never copied into a project: Shoelace in two files, its tokens, its icons, the look. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { defineConfig, type Plugin } from "vite";

const shoelace = resolve("node_modules/@shoelace-style/shoelace");
const look = resolve("../src/ui_mcp/bundle/web/look");
const vendor = resolve("../src/ui_mcp/bundle/web/vendor/shoelace");

function copyAssets(): Plugin {
  return {
    name: "copy-shoelace-assets",
    closeBundle() {
      const icons = readFileSync("src/components/icons.txt", "utf8").split(/\s+/).filter(Boolean);
      mkdirSync(`${vendor}/icons`, { recursive: true });
      for (const name of icons) {
        cpSync(`${shoelace}/dist/assets/icons/${name}.svg`, `${vendor}/icons/${name}.svg`);
      }
      const themes = ["light", "dark"].map((name) => readFileSync(`${shoelace}/dist/themes/${name}.css`, "utf8"));
      writeFileSync(`${vendor}/tokens.css`, themes.join("\n").replace(/\s*\n\s*/g, "\n"));
      writeLook();
      cpSync(`${shoelace}/LICENSE.md`, `${vendor}/LICENSE.md`);
    },
  };
}

/** The colours and the theme switch of the pages that are not the app's: chat, approvals, variables, nlui. */
function writeLook(): void {
  mkdirSync(look, { recursive: true });
  const themes = ["light", "dark", "dusk", "meadow"].map((name) => `public/themes/${name}.css`);
  const sheets = ["src/tokens.css", ...themes, "look/pages.css"].map((file) => readFileSync(file, "utf8"));
  writeFileSync(`${look}/look.css`, sheets.join("\n").replace(/\/\*[^]*?\*\//g, "").replace(/\n\s*\n/g, "\n"));
  cpSync("look/look.js", `${look}/look.js`);
}

export default defineConfig({
  plugins: [copyAssets()],
  publicDir: false,
  build: {
    outDir: vendor,
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    rollupOptions: {
      input: { core: "src/components/core.ts", more: "src/components/more.ts" },
      preserveEntrySignatures: false,
      output: { entryFileNames: "[name].js", chunkFileNames: "shared-[hash].js" },
    },
  },
});
