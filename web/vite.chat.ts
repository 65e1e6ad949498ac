/** Builds the chat's own page into the package; its files are asked for below /chat/. */
import { defineConfig } from "vite";

export default defineConfig({
  root: "chat",
  base: "/chat/",
  publicDir: false,
  html: { cspNonce: "{{nonce}}" },
  build: {
    outDir: "../../src/ui_mcp/bundle/web/chat",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: false,
    rollupOptions: {
      output: { entryFileNames: "chat-[hash].js", assetFileNames: "[name]-[hash][extname]" },
    },
  },
});
