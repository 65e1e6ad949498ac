/** Builds the page of the person into the package; its files are asked for below /person/assets/. */
import { mkdirSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { defineConfig, type Plugin } from "vite";

const look = resolve("../src/ui_mcp/bundle/web/look");

/** Puts the page's script and style beside the look as well: a gateway that serves nothing else has only that folder. */
function besideTheLook(): Plugin {
  return {
    name: "beside-the-look",
    writeBundle(_, bundle) {
      mkdirSync(look, { recursive: true });
      for (const [name, part] of Object.entries(bundle)) {
        if (part.type === "chunk") {
          writeFileSync(`${look}/person.js`, part.code);
        } else if (name.endsWith(".css")) {
          writeFileSync(`${look}/person.css`, part.source);
        }
      }
    },
  };
}

export default defineConfig({
  root: "person",
  base: "/person/assets/",
  plugins: [besideTheLook()],
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
