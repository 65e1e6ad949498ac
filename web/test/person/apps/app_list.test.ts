import { beforeEach, expect, test, vi } from "vitest";
import { appList, chip } from "../../../src/person/apps/app_list";
import { ENTRY } from "./fake_apps";

const entry = (name: string, more: Partial<typeof ENTRY> = {}): typeof ENTRY => ({ ...ENTRY, name, title: name, ...more });

beforeEach(() => document.body.replaceChildren());

test("a chip tells the state of an app", () => {
  const words = [{ built: false }, { issues: 1 }, { issues: 2 }, { passed: 2 }, {}, { total: 0 }].map((more) => chip(entry("a", more)).textContent);
  expect(words).toEqual(["planned", "1 issue", "2 issues", "2/2", "1/2", "no tests"]);
});

test("an app is chosen by click, and arrow keys move through the list", () => {
  const chosen = vi.fn();
  const list = appList(chosen);
  document.body.append(list.element);
  list.show([entry("one"), entry("two")], "two");
  list.select("one");
  list.focus();
  list.element.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true }));
  (document.activeElement as HTMLElement).click();
  expect([chosen.mock.calls, list.element.querySelectorAll(".apps-now").length]).toEqual([[["two"]], 1]);
});

test("a filter appears for many apps and leaves those that match", () => {
  const list = appList(vi.fn());
  document.body.append(list.element);
  list.show([1, 2, 3, 4, 5, 6, 7].map((number) => entry(`app-${number}`)), null);
  const filter = list.element.querySelector("input");
  filter?.setAttribute("value", "app-3");
  filter?.dispatchEvent(new Event("input"));
  const left = [...list.element.querySelectorAll("b")].map((one) => one.textContent);
  if (filter) {
    filter.value = "none";
  }
  filter?.dispatchEvent(new Event("input"));
  expect([filter?.hidden, left, list.element.querySelector(".apps-none")?.textContent]).toEqual([false, ["app-3"], "No app matches."]);
});

test("an app that is being built shows how far it is", () => {
  const list = appList(vi.fn());
  list.show([entry("one")], null);
  list.progress({ one: { progress: 40, stage: "writing" } });
  const chips = list.element.querySelector(".apps-chip")?.textContent;
  list.progress({});
  expect([chips, list.element.querySelector("progress")]).toEqual(["40 %", null]);
});
