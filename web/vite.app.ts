/** Builds the page that MCP hosts show inline: one document with everything inside, components and icons included. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";

const shoelace = "node_modules/@shoelace-style/shoelace/dist";
const target = "../src/ui_mcp/bundle/web/app";

function icons(): Plugin {
  return {
    name: "icons",
    resolveId: (id) => (id === "virtual:icons" ? "\0icons" : null),
    load(id) {
      if (id !== "\0icons") {
        return null;
      }
      const names = readFileSync("src/components/icons.txt", "utf8").split(/\s+/).filter(Boolean);
      const drawings = names.map((name) => [name, inner(readFileSync(`${shoelace}/assets/icons/${name}.svg`, "utf8"))]);
      return `export default ${JSON.stringify(Object.fromEntries(drawings))}`;
    },
  };
}

function inner(svg: string): string {
  return svg.replace(/^[^>]*>\s*/, "").replace(/\s*<\/svg>\s*$/, "").replace(/\s*\n\s*/g, "");
}

function oneDocument(): Plugin {
  return {
    name: "one-document",
    enforce: "post",
    generateBundle(_, bundle) {
      let script = "";
      let style = ["light", "dark"].map((name) => readFileSync(`${shoelace}/themes/${name}.css`, "utf8")).join("\n").replace(/\s*\n\s*/g, "\n");
      for (const name of ["light", "dark"]) {
        style += readFileSync(`public/themes/${name}.css`, "utf8").replace(/\/\*[^]*?\*\//g, "");
      }
      style += readFileSync("public/themes/base.css", "utf8");
      for (const [name, part] of Object.entries(bundle)) {
        if (part.type === "chunk") {
          script += part.code;
        } else if (name.endsWith(".css")) {
          style = `${String(part.source)}\n${style}`;
        }
        delete bundle[name];
      }
      const page = readFileSync("embed.html", "utf8")
        .replace("/*style*/", () => style)
        .replace("/*script*/", () => script.replace(/<\/script/gi, "<\\/script").replace(/<!--/g, "<\\!--"));
      mkdirSync(target, { recursive: true });
      writeFileSync(`${target}/main.html`, page);
    },
  };
}

export default defineConfig({
  plugins: [icons(), oneDocument()],
  publicDir: false,
  define: { __VENDOR__: '""', "process.env.NODE_ENV": '"production"' },
  build: {
    outDir: target,
    emptyOutDir: true,
    target: "es2022",
    cssCodeSplit: false,
    lib: { entry: "src/embed/main.ts", name: "uiMcpEmbed", formats: ["iife"], fileName: () => "main.js", cssFileName: "main" },
  },
});
