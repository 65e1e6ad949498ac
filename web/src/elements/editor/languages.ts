/** The languages of the editor, each loaded when it is first used. */
import { type LanguageSupport, StreamLanguage, type StreamParser } from "@codemirror/language";
import type { Extension } from "@codemirror/state";

type Load = () => Promise<Extension | LanguageSupport>;

const legacy = async (load: Promise<unknown>, name: string): Promise<Extension> => StreamLanguage.define((await load as Record<string, StreamParser<unknown>>)[name] as StreamParser<unknown>);

const LOADERS: Readonly<Record<string, Load>> = {
  javascript: async () => (await import("@codemirror/lang-javascript")).javascript({ jsx: true }),
  typescript: async () => (await import("@codemirror/lang-javascript")).javascript({ jsx: true, typescript: true }),
  python: async () => (await import("@codemirror/lang-python")).python(),
  html: async () => (await import("@codemirror/lang-html")).html(),
  css: async () => (await import("@codemirror/lang-css")).css(),
  json: async () => (await import("@codemirror/lang-json")).json(),
  markdown: async () => (await import("@codemirror/lang-markdown")).markdown(),
  sql: async () => (await import("@codemirror/lang-sql")).sql(),
  yaml: async () => (await import("@codemirror/lang-yaml")).yaml(),
  lua: () => legacy(import("@codemirror/legacy-modes/mode/lua"), "lua"),
  shell: () => legacy(import("@codemirror/legacy-modes/mode/shell"), "shell"),
  toml: () => legacy(import("@codemirror/legacy-modes/mode/toml"), "toml"),
  go: () => legacy(import("@codemirror/legacy-modes/mode/go"), "go"),
  rust: () => legacy(import("@codemirror/legacy-modes/mode/rust"), "rust"),
  ruby: () => legacy(import("@codemirror/legacy-modes/mode/ruby"), "ruby"),
  dockerfile: () => legacy(import("@codemirror/legacy-modes/mode/dockerfile"), "dockerFile"),
};
const SHORT: Readonly<Record<string, string>> = {
  js: "javascript", jsx: "javascript", mjs: "javascript", ts: "typescript", tsx: "typescript", py: "python", md: "markdown", yml: "yaml", sh: "shell", bash: "shell", rs: "rust", rb: "ruby", htm: "html",
};

/** The grammar of a language by its name or the ending of its files; null without one. */
export async function languageNamed(given: string): Promise<Extension | null> {
  const name = given.toLowerCase();
  return (await LOADERS[SHORT[name] ?? name]?.()) ?? null;
}
