import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { notify, removeNotice } from "../../src/page/notices";

const shown = (): (string | null)[] => [...document.querySelectorAll(".ui-notice-text")].map((notice) => notice.textContent);

beforeEach(() => {
  document.body.replaceChildren();
  vi.useFakeTimers();
});

afterEach(() => void vi.useRealTimers());

// The test's document has no layout, so nothing is below a notice.
document.elementsFromPoint = () => [];

test("a notice goes away by itself, an error stays until it is dismissed", () => {
  notify("info", "saved");
  notify("error", "failed");
  vi.advanceTimersByTime(8000);
  expect(shown()).toEqual(["failed"]);
  document.querySelector<HTMLButtonElement>(".ui-notice-close")?.click();
  expect(shown()).toEqual([]);
});

test("the same text is shown once", () => {
  notify("info", "saved");
  notify("error", "saved");
  expect(shown()).toEqual(["saved"]);
});

test("a notice that is no longer true can be removed by its text", () => {
  notify("error", "a.lua does not load");
  notify("error", "b.lua does not load");
  removeNotice("a.lua does not load");
  expect(shown()).toEqual(["b.lua does not load"]);
});

test("of several lines the first is shown until the notice is opened", () => {
  notify("error", "denied\nTo allow it, write this line");
  const more = document.querySelector<HTMLButtonElement>(".ui-notice-more");
  const classes = (): boolean | undefined => document.querySelector(".ui-notice")?.classList.contains("ui-notice-open");
  const seen = [classes(), more?.getAttribute("aria-expanded")];
  more?.click();
  expect([...seen, classes(), more?.getAttribute("aria-expanded"), more?.textContent]).toEqual([false, "false", true, "true", "Less"]);
});
