/** Builds the page of the person into the package; its files are asked for below /person/assets/. */
import { defineConfig } from "vite";

export default defineConfig({
  root: "person",
  base: "/person/assets/",
  publicDir: false,
  html: { cspNonce: "{{nonce}}" },
  build: {
    outDir: "../../src/ui_mcp/bundle/web/person",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: false,
    rollupOptions: {
      output: { entryFileNames: "person-[hash].js", assetFileNames: "[name]-[hash][extname]" },
    },
  },
});
