import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { chosenTheme, followParent, followSystem, setTheme } from "../../src/theme/theme";

const classes = (): string[] => [...document.documentElement.classList].sort();
let dark: boolean;
let changed: () => void;

beforeEach(() => {
  dark = false;
  localStorage.clear();
  document.documentElement.className = "";
  window.uiThemes = { names: ["light", "dark", "dusk"], dark: ["dark", "dusk"] };
  vi.stubGlobal("matchMedia", () => ({ get matches() { return dark; }, addEventListener: (_: string, act: () => void) => (changed = act) }));
});

afterEach(() => void vi.unstubAllGlobals());

test("without a choice the page follows the system", () => {
  followSystem();
  expect(classes()).toEqual(["theme-light"]);
  dark = true;
  changed();
  expect(classes()).toEqual(["sl-theme-dark", "theme-dark"]);
});

test("a chosen theme stays, whatever the system does, until auto is chosen", () => {
  setTheme("dusk");
  followSystem();
  changed();
  expect([classes(), chosenTheme()]).toEqual([["sl-theme-dark", "theme-dusk"], "dusk"]);
  setTheme("auto");
  expect([classes(), chosenTheme()]).toEqual([["theme-light"], null]);
});

test("without storage a choice still applies to this page", () => {
  const refuse = (): never => {
    throw new Error("no storage");
  };
  vi.stubGlobal("localStorage", { getItem: refuse, setItem: refuse, removeItem: refuse });
  setTheme("dusk");
  expect([classes(), chosenTheme()]).toEqual([["sl-theme-dark", "theme-dusk"], null]);
});

test("only the style sheet of the shown theme is enabled, also when a script changes the class", async () => {
  document.head.innerHTML = '<link rel="stylesheet" data-theme="light"><link rel="stylesheet" data-theme="dusk">';
  const media = (): string[] => [...document.querySelectorAll("link")].map((link) => link.media);
  followSystem();
  await vi.waitFor(() => expect(media()).toEqual(["all", "not all"]));
  document.documentElement.className = "theme-dusk";
  await vi.waitFor(() => expect(media()).toEqual(["not all", "all"]));
  document.head.innerHTML = "";
});

test("a style sheet that is no part of the page is loaded when its theme is shown", async () => {
  document.head.innerHTML = '<style data-theme="light"></style>';
  window.uiThemes = { names: ["light", "far"], dark: [], files: { far: "/themes/far.css?v=1" } };
  followSystem();
  document.documentElement.className = "theme-far";
  await vi.waitFor(() => expect(document.head.innerHTML).toContain('href="/themes/far.css?v=1" data-theme="far"'));
  expect(document.querySelector("style")?.media).toBe("not all");
  document.documentElement.className = "theme-light";
  await vi.waitFor(() => expect(document.querySelector("link")?.media).toBe("not all"));
  document.head.innerHTML = "";
});

test("inside a frame the theme comes from the page around it and from nowhere else", () => {
  followParent();
  const tell = (source: unknown, data: unknown): boolean => dispatchEvent(Object.assign(new Event("message"), { source, data }));
  tell(window.parent, { type: "ui-theme", name: "dusk" });
  expect(classes()).toEqual(["sl-theme-dark", "theme-dusk", "ui-framed"]);
  tell(null, { type: "ui-theme", name: "light" });
  tell(window.parent, { type: "ui-theme", name: "x y" });
  tell(window.parent, null);
  expect(classes()).toContain("theme-dusk");
});
