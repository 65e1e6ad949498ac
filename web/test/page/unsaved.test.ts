import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { unsaved } from "../../src/page/unsaved";

const sign = (): string | undefined => document.querySelector("[role=status]")?.textContent ?? undefined;

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  document.body.replaceChildren();
});

test("what is saved at once shows nothing", () => {
  const watch = unsaved();
  watch.saved(0);
  watch.sent();
  watch.saved(1);
  vi.advanceTimersByTime(60_000);
  expect(sign()).toBeUndefined();
});

test("what stays unsaved is told until it is saved", () => {
  const watch = unsaved();
  watch.saved(0);
  watch.sent();
  watch.sent();
  vi.advanceTimersByTime(60_000);
  expect(sign()).toBe("Saving…");
  watch.saved(1);
  expect(sign()).toBe("Saving…");
  watch.saved(2);
  expect(sign()).toBeUndefined();
});

test("a server that confirms nothing keeps no journal, and a new connection begins anew", () => {
  const watch = unsaved();
  watch.sent();
  vi.advanceTimersByTime(60_000);
  expect(sign()).toBeUndefined();
  watch.saved(0);
  watch.sent();
  vi.advanceTimersByTime(60_000);
  watch.reset(0);
  expect(sign()).toBeUndefined();
});
