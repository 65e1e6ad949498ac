/** Builds the chat page of `nlui` into the package; its files are asked for below /nlui/. */
import { defineConfig } from "vite";

export default defineConfig({
  root: "nlui",
  base: "/nlui/",
  publicDir: false,
  html: { cspNonce: "{{nonce}}" },
  build: {
    outDir: "../../src/ui_mcp/bundle/web/nlui",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: false,
    rollupOptions: {
      output: { entryFileNames: "nlui-[hash].js", assetFileNames: "[name]-[hash][extname]" },
    },
  },
});
