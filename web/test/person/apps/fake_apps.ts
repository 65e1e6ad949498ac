import { vi } from "vitest";
import type { AppDetail, AppEntry, AppsApi, Import } from "../../../src/person/apps/api";

export const ENTRY: AppEntry = {
  name: "week-plan",
  title: "Week plan",
  about: "What to do this week.",
  built: true,
  scenario: true,
  passed: 1,
  total: 2,
  issues: 0,
  linked: false,
  source: null,
};

export const DETAIL: AppDetail = {
  ...ENTRY,
  requirements: "# Week plan\n\nAdd **items**.",
  design: "",
  readme: "",
  tests: [
    { text: "adds", passed: true },
    { text: "removes", passed: false },
  ],
  known: ["flickers"],
  fixed: [],
  violations: [{ rule: "dead_method", location: "app.lua:3", text: "nothing calls it" }],
  warnings: [],
  files: [{ path: "app.lua", size: 2048 }],
  checkpoints: 0,
  abilities: [],
};

export const STAGED: Import = {
  id: "0123456789abcdef",
  source: { kind: "archive", label: "notes.zip" },
  left_out: [".git/config"],
  apps: [
    {
      folder: "notes",
      name: "notes",
      exists: false,
      built: true,
      size: 20,
      files: [{ path: "app.lua", size: 20, kind: "code" }],
      abilities: [{ id: "exec", level: "warning", title: "Starts programs", about: "Off.", count: 1, places: [{ path: "app.lua", line: 2, text: "os.execute()" }] }],
    },
  ],
};

export const fakeApi = (): { [K in keyof AppsApi]: ReturnType<typeof vi.fn<AppsApi[K]>> } => ({
  list: vi.fn(() => Promise.resolve({ apps: [ENTRY], folder: "/p/apps", displayed: null, listening: false, imports: [] })),
  describe: vi.fn(() => Promise.resolve(DETAIL)),
  create: vi.fn(() => Promise.resolve({})),
  show: vi.fn(() => Promise.resolve({})),
  test: vi.fn(() => Promise.resolve({ ok: true, steps: 3, failure: null, picture: null })),
  ask: vi.fn(() => Promise.resolve({ listening: false })),
  remove: vi.fn(() => Promise.resolve({ undo: "1" })),
  restore: vi.fn(() => Promise.resolve({ name: "week-plan" })),
  importGit: vi.fn(() => Promise.resolve(STAGED)),
  importArchive: vi.fn(() => Promise.resolve(STAGED)),
  staged: vi.fn(() => Promise.resolve(STAGED)),
  file: vi.fn(() => Promise.resolve({ text: "a\nos.execute()\u202e", binary: false, cut: false, size: 20 })),
  accept: vi.fn(() => Promise.resolve({ name: "notes" })),
  discard: vi.fn(() => Promise.resolve({})),
});

export const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

export function press(root: HTMLElement, name: string): void {
  const found = [...root.querySelectorAll("button")].find((one) => one.textContent === name);
  if (!found) {
    throw new Error(`no button ${name}`);
  }
  found.click();
}
