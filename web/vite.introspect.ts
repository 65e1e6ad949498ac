/** Builds the eyes and hands as one script that our own pages load on demand and driven pages are given. */
import { defineConfig } from "vite";

export default defineConfig({
  publicDir: false,
  build: {
    outDir: "../src/ui_mcp/bundle/web/introspect",
    emptyOutDir: true,
    target: "es2022",
    lib: { entry: "src/introspect/main.ts", name: "uiMcpIntrospect", formats: ["iife"], fileName: () => "introspect.js" },
  },
});
