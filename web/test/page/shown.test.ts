import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { whenShown } from "../../src/page/shown";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test("what was put off happens once, a second after the app is shown", async () => {
  const root = document.createElement("div");
  const act = vi.fn();
  whenShown(root, act);
  root.append("app");
  await vi.advanceTimersByTimeAsync(900);
  expect(act).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(20_000);
  expect(act).toHaveBeenCalledTimes(1);
});

test("an app that shows nothing is not waited for without end", async () => {
  const act = vi.fn();
  whenShown(document.createElement("div"), act);
  await vi.advanceTimersByTimeAsync(11_000);
  expect(act).toHaveBeenCalledTimes(1);
});
