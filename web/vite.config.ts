/** Builds the page that every session opens: index.html, main-HASH.js, worker-HASH.js and the themes. */
import { defineConfig } from "vite";

export default defineConfig({
  base: "/",
  build: {
    outDir: "../src/ui_mcp/bundle/base/html",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: false,
    rollupOptions: {
      output: {
        entryFileNames: "main-[hash].js",
        chunkFileNames: "part-[name]-[hash].js",
        assetFileNames: (asset) => (asset.names[0]?.endsWith(".css") ? "main-[hash].css" : "[name]-[hash][extname]"),
      },
    },
  },
  worker: {
    rollupOptions: { output: { entryFileNames: "worker-[hash].js" } },
  },
  test: { environment: "happy-dom", include: ["test/**/*.test.ts"] },
} as Parameters<typeof defineConfig>[0]);
