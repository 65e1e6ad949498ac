/** The apps of the project, as the person's listener tells of them. */
import { type Fetch, readJson, sendJson } from "../client";

export interface Source {
  readonly kind: "git" | "archive";
  readonly label: string;
}

export interface AppEntry {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly built: boolean;
  readonly scenario: boolean;
  readonly passed: number;
  readonly total: number;
  readonly issues: number;
  readonly linked: boolean;
  readonly source: (Source & { readonly at: number; readonly changed: boolean }) | null;
}

export interface Finding {
  readonly rule: string;
  readonly location: string;
  readonly text: string;
}

export interface AppDetail extends AppEntry {
  readonly requirements: string;
  readonly design: string;
  readonly readme: string;
  readonly tests: readonly { readonly text: string; readonly passed: boolean }[];
  readonly known: readonly string[];
  readonly fixed: readonly string[];
  readonly violations: readonly Finding[];
  readonly warnings: readonly Finding[];
  readonly files: readonly { readonly path: string; readonly size: number }[];
  readonly checkpoints: number;
  readonly abilities: readonly Ability[];
}

export interface Listing {
  readonly apps: readonly AppEntry[];
  readonly folder: string;
  readonly displayed: string | null;
  readonly listening: boolean;
  readonly imports: readonly { readonly id: string; readonly source: Source }[];
}

export interface Place {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

export interface Ability {
  readonly id: string;
  readonly level: "danger" | "warning" | "info";
  readonly title: string;
  readonly about: string;
  readonly count: number;
  readonly places: readonly Place[];
}

export interface StagedApp {
  readonly folder: string;
  readonly name: string;
  readonly exists: boolean;
  readonly built: boolean;
  readonly size: number;
  readonly files: readonly { readonly path: string; readonly size: number; readonly kind: string }[];
  readonly abilities: readonly Ability[];
}

export interface Import {
  readonly id: string;
  readonly source: Source;
  readonly left_out: readonly string[];
  readonly apps: readonly StagedApp[];
}

export interface StagedFile {
  readonly text: string;
  readonly binary: boolean;
  readonly cut: boolean;
  readonly size: number;
}

export interface TestOutcome {
  readonly ok: boolean;
  readonly steps: number;
  readonly failure: Readonly<Record<string, unknown>> | null;
  readonly picture: string | null;
}

export interface Progress {
  readonly version: number;
  readonly todos: readonly { readonly content: string; readonly status: string; readonly active: string }[];
  readonly apps: Readonly<Record<string, { readonly progress: number | null; readonly stage: string }>>;
}

export type Request = "build" | "test" | "fix" | "improve";

export interface AppsApi {
  list(): Promise<Listing>;
  describe(name: string): Promise<AppDetail>;
  create(name: string, about: string, template: boolean): Promise<unknown>;
  /** Display the app; `note` says why nothing is seen. */
  show(name: string): Promise<{ readonly note?: string }>;
  test(name: string): Promise<TestOutcome>;
  ask(name: string, request: Request, text: string): Promise<{ readonly listening: boolean }>;
  remove(name: string): Promise<{ readonly undo: string }>;
  restore(undo: string): Promise<{ readonly name: string }>;
  importGit(address: string): Promise<Import>;
  importArchive(file: File): Promise<Import>;
  staged(id: string): Promise<Import>;
  file(id: string, path: string): Promise<StagedFile>;
  accept(id: string, folder: string, name: string, replace: boolean): Promise<{ readonly name: string }>;
  discard(id: string): Promise<unknown>;
}

export function appsApi(fetch: Fetch): AppsApi {
  const of = (name: string): string => `/apps/${encodeURIComponent(name)}`;
  const path = (text: string): string => text.split("/").map(encodeURIComponent).join("/");
  return {
    list: () => readJson(fetch, "/apps"),
    describe: (name) => readJson(fetch, of(name)),
    create: (name, about, template) => sendJson(fetch, "/apps", template ? { name, template } : { name, about }),
    show: (name) => sendJson(fetch, `${of(name)}/show`, {}),
    test: (name) => sendJson(fetch, `${of(name)}/test`, {}),
    ask: (name, request, text) => sendJson(fetch, `${of(name)}/ask`, { request, text }),
    remove: (name) => sendJson(fetch, of(name), {}, "DELETE"),
    restore: (undo) => sendJson(fetch, `/deleted/${undo}`, {}),
    importGit: (address) => sendJson(fetch, "/imports/git", { address }),
    async importArchive(file) {
      const headers = { Accept: "application/json", "Content-Type": "application/octet-stream" };
      const answer = await fetch(`/imports/archive?${new URLSearchParams({ name: file.name })}`, { method: "POST", headers, body: file });
      return (await answer.json()) as Import;
    },
    staged: (id) => readJson(fetch, `/imports/${id}`),
    file: (id, name) => readJson(fetch, `/imports/${id}/files/${path(name)}`),
    accept: (id, folder, name, replace) => sendJson(fetch, `/imports/${id}/accept`, { folder, name, replace }),
    discard: (id) => sendJson(fetch, `/imports/${id}`, {}, "DELETE"),
  };
}

export function sizeText(bytes: number): string {
  return bytes < 1024 ? `${bytes} B` : bytes < 1024 * 1024 ? `${Math.round(bytes / 1024)} kB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
