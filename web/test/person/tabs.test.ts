import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Tabs, tabs } from "../../src/person/tabs";

let narrow: boolean;
let changed: () => void;
const panel = (tag: string): HTMLElement => document.createElement(tag);
const selected = (bar: Tabs): (string | null)[] => [...bar.element.querySelectorAll("[aria-selected=true]")].map((tab) => tab.id);

function open(first: string): Tabs {
  const bar = tabs([{ id: "app", name: "App", panel: panel("iframe") }, { id: "chat", name: "Chat", panel: panel("section") }, { id: "questions", name: "Questions", panel: panel("section") }], first);
  document.body.replaceChildren(bar.element);
  return bar;
}

beforeEach(() => {
  narrow = false;
  vi.stubGlobal("matchMedia", () => ({ get matches() { return narrow; }, addEventListener: (_: string, act: () => void) => (changed = act) }));
});

afterEach(() => void vi.unstubAllGlobals());

test("one view is chosen by click, and an unknown one is ignored", () => {
  const bar = open("chat");
  bar.element.querySelector<HTMLElement>("#tab-questions")?.click();
  bar.choose("nothing");
  expect([selected(bar), bar.chosen()]).toEqual([["tab-questions"], "questions"]);
});

test("the app is a tab on narrow screens only", () => {
  narrow = true;
  const bar = open("app");
  expect([selected(bar), bar.isNarrow()]).toEqual([["tab-app"], true]);
  narrow = false;
  changed();
  expect(selected(bar)).toEqual(["tab-chat"]);
});

test("arrow keys move through the tabs that are shown", () => {
  const bar = open("chat");
  const press = (key: string): boolean => bar.element.dispatchEvent(new KeyboardEvent("keydown", { key }));
  press("ArrowRight");
  expect([bar.chosen(), document.activeElement?.id]).toEqual(["questions", "tab-questions"]);
  press("ArrowRight");
  press("a");
  expect(bar.chosen()).toBe("chat");
});

test("a tab shows a number until it is 0", () => {
  const bar = open("chat");
  const badge = bar.element.querySelector("#tab-questions .person-count");
  bar.count("questions", 3);
  expect(badge?.textContent).toBe("3");
  bar.count("questions", 0);
  bar.count("nothing", 1);
  expect(badge?.textContent).toBe("");
});

test("on wide screens a main view and one of the panel are shown together", () => {
  const panels = { app: panel("iframe"), apps: panel("section"), settings: panel("section"), chat: panel("section") };
  const changed = vi.fn();
  const bar = tabs(
    [
      { id: "app", name: "App", panel: panels.app },
      { id: "apps", name: "All apps", panel: panels.apps, main: true },
      { id: "settings", name: "Settings", panel: panels.settings, main: true, untabbed: true },
      { id: "chat", name: "Chat", panel: panels.chat },
    ],
    "app",
    changed,
  );
  bar.choose("settings");
  const shown = Object.entries(panels).flatMap(([id, one]) => (one.classList.contains("person-shown") ? [id] : []));
  expect([shown, changed.mock.calls, bar.element.childElementCount]).toEqual([["settings", "chat"], [["app", "chat"], ["settings", "chat"]], 3]);
});
