/** Builds the page that every session opens: index.html, main-HASH.js, worker-HASH.js and the themes. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { defineConfig } from "vite";

/** Names the present build of the components, whose files keep their names but are cached for ever. */
function vendorVersion(): string {
  const hash = createHash("sha256");
  for (const name of ["core.js", "more.js", "tokens.css"]) {
    const file = `../src/ui_mcp/bundle/web/vendor/shoelace/${name}`;
    hash.update(existsSync(file) ? readFileSync(file) : name);
  }
  return hash.digest("hex").slice(0, 8);
}

const vendor = vendorVersion();

export default defineConfig({
  base: "/",
  define: { __VENDOR__: JSON.stringify(vendor) },
  plugins: [{ name: "stamp-vendor", transformIndexHtml: (html: string) => html.replaceAll("tokens.css", `tokens.css?v=${vendor}`) }],
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
