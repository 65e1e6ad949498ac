/**
 * The named builds of the front end. `npm run build` runs them all in one process, `npm run build chat` runs one.
 * Every build writes into the Python package.
 */
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Plugin } from "vite";
import { defineConfig, type ViteUserConfig } from "vitest/config";

const bundle = resolve("../src/ui_mcp/bundle");
const shoelace = resolve("node_modules/@shoelace-style/shoelace");
const shoelaceOutput = `${bundle}/web/vendor/shoelace`;
const elementsOutput = `${bundle}/web/vendor/elements`;
const iconNames = readFileSync("src/components/icons.txt", "utf8").split(/\s+/).filter(Boolean);

const builds: Readonly<Record<string, () => ViteUserConfig>> = {
  vendor,
  elements,
  session,
  introspect,
  host,
  chat: () => page("chat", "/chat/"),
  nlui: () => page("nlui", "/nlui/"),
  person: () => page("person", "/person/assets/"),
};

export default defineConfig(({ mode }) => {
  const config = builds[mode === "test" ? "session" : mode];
  if (config === undefined) {
    throw new Error(`There is no build "${mode}", only ${Object.keys(builds).join(", ")}`);
  }
  return config();
});

/** Shoelace in two files with tokens and icons, and the style shared by our pages. */
function vendor(): ViteUserConfig {
  return {
    plugins: [copyShoelaceAssets(), writeSharedStyle()],
    publicDir: false,
    build: {
      outDir: shoelaceOutput,
      emptyOutDir: true,
      target: "es2022",
      modulePreload: false,
      rolldownOptions: {
        input: { core: "src/components/core.ts", more: "src/components/more.ts" },
        preserveEntrySignatures: false,
        output: { entryFileNames: "[name].js", chunkFileNames: "shared-[hash].js" },
      },
    },
  };
}

/** Our own elements, a file each, which a page loads when it first shows one. */
function elements(): ViteUserConfig {
  const names = readdirSync("src/elements", { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return {
    plugins: [collectLicences()],
    publicDir: false,
    build: {
      outDir: elementsOutput,
      chunkSizeWarningLimit: 1000, // ECharts, which is loaded by pages with a chart only
      emptyOutDir: true,
      target: "es2022",
      modulePreload: false,
      rolldownOptions: {
        input: Object.fromEntries(names.map(({ name }) => [name, `src/elements/${name}/element.ts`])),
        // Pages load entries under an address with a version; chunks must never import them, or they would run twice.
        preserveEntrySignatures: "strict",
        output: { entryFileNames: "[name].js", chunkFileNames: "shared-[hash].js" },
      },
    },
  };
}

/** The licences of all packages that are in the elements, in one file beside them. */
function collectLicences(): Plugin {
  const packages = new Set<string>();
  return {
    name: "collect-licences",
    generateBundle(_, files) {
      for (const file of Object.values(files)) {
        for (const id of file.type === "chunk" ? Object.keys(file.modules) : []) {
          const found = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id.replace(/^\0/, ""));
          if (found) {
            packages.add(found[0]);
          }
        }
      }
    },
    closeBundle() {
      writeFileSync(`${elementsOutput}/THIRD-PARTY-LICENSES.txt`, [...packages].sort().map(licenceOf).join("\n"));
    },
  };
}

/** Name, version and licence texts of a package; some publish no text and only name their licence. */
function licenceOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8")) as { name: string; version: string; license?: string };
  const texts = readdirSync(folder, { withFileTypes: true }).filter((file) => file.isFile() && /^(?:licen[cs]e|notice|copying)/i.test(file.name)).map((file) => file.name).sort();
  const parts = texts.map((file) => readFileSync(`${folder}/${file}`, "utf8").trim());
  return `${"=".repeat(80)}\n${name} ${version} (${license ?? "see below"})\n${"=".repeat(80)}\n\n${parts.join("\n\n")}\n`;
}

/** The page that every session opens: index.html, main-HASH.js, worker-HASH.js and the themes. Needs `vendor` first. */
function session(): ViteUserConfig {
  const version = shoelaceVersion();
  return {
    base: "/",
    define: { __VENDOR__: JSON.stringify(version), __ELEMENTS__: JSON.stringify(elementsVersion()) },
    plugins: [{ name: "stamp-vendor", transformIndexHtml: (html) => html.replaceAll("tokens.css", `tokens.css?v=${version}`).replace("__ELEMENTS__", elementsVersion()) }],
    build: {
      outDir: `${bundle}/base/html`,
      emptyOutDir: true,
      target: "es2022",
      assetsInlineLimit: 0,
      modulePreload: false,
      rolldownOptions: {
        output: {
          entryFileNames: "main-[hash].js",
          chunkFileNames: "part-[name]-[hash].js",
          assetFileNames: (asset) => (asset.names[0]?.endsWith(".css") ? "main-[hash].css" : "[name]-[hash][extname]"),
        },
      },
    },
    worker: {
      rolldownOptions: { output: { entryFileNames: "worker-[hash].js" } },
    },
    test: {
      environment: "happy-dom",
      // A new environment for each file would take ten times as long as the tests.
      isolate: false,
      pool: "threads",
      include: ["test/**/*.test.ts"],
      coverage: {
        include: ["src/**/*.ts"],
        // Elements draw and measure, which needs a layout: tests/e2e/web_live operates them in a real browser.
        exclude: ["src/**/*.d.ts", "src/wire.gen.ts", "src/embed/icons.ts", "src/elements/**"],
        reporter: ["text-summary"],
        reportsDirectory: "node_modules/.coverage",
        // Half a point below what was measured. Entry points of pages are tested in a real browser only.
        thresholds: { statements: 81.4, branches: 72.8, functions: 79.5, lines: 82.6 },
      },
    },
  };
}

/** Snapshots and actions as one script, loaded on demand by our own pages and injected into driven ones. */
function introspect(): ViteUserConfig {
  return {
    publicDir: false,
    build: {
      outDir: `${bundle}/web/introspect`,
      emptyOutDir: true,
      target: "es2022",
      lib: { entry: "src/introspect/main.ts", name: "uiMcpIntrospect", formats: ["iife"], fileName: () => "introspect.js" },
    },
  };
}

/** The page that MCP hosts show inline: one document with everything inside, components and icons included. */
function host(): ViteUserConfig {
  const outDir = `${bundle}/web/app`;
  return {
    plugins: [inlineIcons(), oneDocument(outDir)],
    publicDir: false,
    define: { __VENDOR__: '""', __ELEMENTS__: '""', "process.env.NODE_ENV": '"production"' },
    build: {
      outDir,
      emptyOutDir: true,
      target: "es2022",
      cssCodeSplit: false,
      lib: { entry: "src/embed/main.ts", name: "uiMcpEmbed", formats: ["iife"], fileName: () => "main.js", cssFileName: "main" },
    },
  };
}

/** A page of our own from the folder `name`; the server puts the nonce of each response into it. */
function page(name: string, base: string): ViteUserConfig {
  return {
    root: name,
    base,
    publicDir: existsSync(`${name}/public`) ? "public" : false,
    html: { cspNonce: "{{nonce}}" },
    build: {
      outDir: `${bundle}/web/${name}`,
      emptyOutDir: true,
      target: "es2022",
      assetsInlineLimit: 0,
      modulePreload: false,
      rolldownOptions: {
        output: { entryFileNames: `${name}-[hash].js`, assetFileNames: "[name]-[hash][extname]" },
      },
    },
  };
}

/** A digest of the components for their URLs, since the files keep their names and are cached without limit. */
function shoelaceVersion(): string {
  const hash = createHash("sha256");
  for (const name of ["core.js", "more.js", "tokens.css"]) {
    const file = `${shoelaceOutput}/${name}`;
    hash.update(existsSync(file) ? readFileSync(file) : name);
  }
  return hash.digest("hex").slice(0, 8);
}

function elementsVersion(): string {
  const hash = createHash("sha256");
  for (const file of existsSync(elementsOutput) ? readdirSync(elementsOutput).sort() : []) {
    hash.update(file).update(readFileSync(`${elementsOutput}/${file}`));
  }
  return hash.digest("hex").slice(0, 8);
}

function shoelaceTokens(): string {
  const themes = ["light", "dark"].map((name) => readFileSync(`${shoelace}/dist/themes/${name}.css`, "utf8"));
  return themes.join("\n").replace(/\s*\n\s*/g, "\n");
}

function copyShoelaceAssets(): Plugin {
  return {
    name: "copy-shoelace-assets",
    closeBundle() {
      writeFileSync(`${shoelaceOutput}/icons.tsv`, packedIcons());
      writeFileSync(`${shoelaceOutput}/tokens.css`, shoelaceTokens());
      cpSync(`${shoelace}/LICENSE.md`, `${shoelaceOutput}/LICENSE.md`);
    },
  };
}

/** All icons in one file, a line each with name and drawing, among which the server finds one without reading the others. */
function packedIcons(): string {
  const folder = `${shoelace}/dist/assets/icons`;
  const names = readdirSync(folder).filter((file) => file.endsWith(".svg"));
  const lines = names.sort().map((file) => `${file.slice(0, -4)}\t${oneLine(readFileSync(`${folder}/${file}`, "utf8"))}`);
  return `\n${lines.join("\n")}\n`;
}

function oneLine(svg: string): string {
  return svg.trim().replace(/\s*\n\s*/g, " ");
}

/**
 * Writes /look/: the typeface, and colours and theme switch of the pages besides the session's (chat, approvals, variables,
 * nlui).
 */
function writeSharedStyle(): Plugin {
  return {
    name: "write-shared-style",
    closeBundle() {
      const output = `${bundle}/web/look`;
      const themes = ["light", "dark", "dusk", "meadow"].map((name) => `public/themes/${name}.css`);
      const sheets = ["src/tokens.css", ...themes, "shared/pages.css"].map((file) => readFileSync(file, "utf8"));
      rmSync(output, { recursive: true, force: true });
      mkdirSync(output, { recursive: true });
      const faces = writeTypeface(output);
      writeFileSync(`${output}/typeface.css`, faces);
      writeFileSync(`${output}/look.css`, faces + withoutComments(sheets.join("\n")).replace(/\n\s*\n/g, "\n"));
      cpSync("shared/look.js", `${output}/look.js`);
    },
  };
}

/** Copies the files of the typeface under names with a digest, and returns the rules by which a browser loads those it needs. */
function writeTypeface(output: string): string {
  const source = resolve("node_modules/@fontsource-variable/inter");
  const faces = readFileSync(`${source}/index.css`, "utf8").match(/@font-face\s*\{[^}]*\}/g) ?? [];
  cpSync(`${source}/LICENSE`, `${output}/Inter-LICENSE.txt`);
  const wanted = faces.filter((face) => !/(greek|cyrillic)-ext-/.test(face));
  const rules = wanted.map((face) =>
    face.replace(/url\(\.\/files\/inter-([a-z-]+)-wght-normal\.woff2\)/, (_, subset: string) => {
      const data = readFileSync(`${source}/files/inter-${subset}-wght-normal.woff2`);
      const name = `inter-${subset}-${createHash("sha256").update(data).digest("hex").slice(0, 8)}.woff2`;
      writeFileSync(`${output}/${name}`, data);
      return `url(/look/${name})`;
    }),
  );
  return `${rules.join("\n").replace(/\s*\n\s*/g, " ")}\n`;
}

/** Serves the drawings of all icons to `virtual:icons`. */
function inlineIcons(): Plugin {
  return {
    name: "inline-icons",
    resolveId: (id) => (id === "virtual:icons" ? "\0icons" : null),
    load(id) {
      if (id !== "\0icons") {
        return null;
      }
      const drawings = iconNames.map((name) => [name, drawingOf(readFileSync(`${shoelace}/dist/assets/icons/${name}.svg`, "utf8"))]);
      return `export default ${JSON.stringify(Object.fromEntries(drawings))}`;
    },
  };
}

function drawingOf(svg: string): string {
  return svg.replace(/^[^>]*>\s*/, "").replace(/\s*<\/svg>\s*$/, "").replace(/\s*\n\s*/g, "");
}

/** Writes script and style into embed.html instead of beside it. */
function oneDocument(outDir: string): Plugin {
  return {
    name: "one-document",
    enforce: "post",
    generateBundle(_, files) {
      let script = "";
      let style = shoelaceTokens();
      for (const name of ["light", "dark"]) {
        style += withoutComments(readFileSync(`public/themes/${name}.css`, "utf8"));
      }
      style += readFileSync("public/themes/base.css", "utf8");
      for (const [name, file] of Object.entries(files)) {
        if (file.type === "chunk") {
          script += file.code;
        } else if (name.endsWith(".css")) {
          style = `${String(file.source)}\n${style}`;
        }
        // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- files that are left in it would be written beside the page
        delete files[name];
      }
      const document = readFileSync("embed.html", "utf8")
        .replace("/*style*/", () => style)
        .replace("/*script*/", () => script.replace(/<\/script/gi, "<\\/script").replace(/<!--/g, "<\\!--"));
      mkdirSync(outDir, { recursive: true });
      writeFileSync(`${outDir}/main.html`, document);
    },
  };
}

function withoutComments(css: string): string {
  return css.replace(/\/\*[^]*?\*\//g, "");
}
