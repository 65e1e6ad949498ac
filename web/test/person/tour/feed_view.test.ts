import { expect, test } from "vitest";
import { type Entry, feedView } from "../../../src/person/tour/feed_view";

const entry = (given: Partial<Entry>): Entry => ({ kind: "call", text: "ui_edit", step: 0, body: "{}", result: "", state: "done", ...given });

test("what is said is spoken, calls are only shown", () => {
  const view = feedView();
  view.show([entry({ kind: "say", text: "**Hi**" }), entry({})]);
  expect([view.element.querySelector("[aria-live]")?.textContent, view.element.querySelectorAll("li").length]).toEqual(["Hi", 2]);
});

test("an answered call replaces the running one, others keep their elements", () => {
  const view = feedView();
  view.show([entry({ kind: "file", text: "a.lua", body: "local x" }), entry({ state: "running" })]);
  const file = view.element.querySelector(".tour-file");
  view.show([entry({ kind: "file", text: "a.lua", body: "local x" }), entry({ state: "done" })]);
  expect([view.element.querySelector(".tour-file") === file, view.element.querySelector(".tour-mark")?.textContent]).toEqual([true, "✓"]);
});

test("a shorter list takes entries away", () => {
  const view = feedView();
  view.show([entry({}), entry({ text: "ui_wait" })]);
  view.show([entry({})]);
  expect(view.element.querySelectorAll("li").length).toBe(1);
});
