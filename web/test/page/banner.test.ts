import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { banner } from "../../src/page/banner";

const text = (): string | undefined => document.querySelector(".ui-banner")?.textContent;

beforeEach(() => {
  document.body.replaceChildren();
  vi.useFakeTimers();
});

afterEach(() => void vi.useRealTimers());

test("a short interruption shows no banner", () => {
  const show = banner(() => undefined);
  show("lost");
  expect(document.documentElement.classList.contains("ui-disconnected")).toBe(true);
  vi.advanceTimersByTime(500);
  show("open");
  vi.advanceTimersByTime(5000);
  expect([text(), document.documentElement.classList.contains("ui-disconnected")]).toEqual([undefined, false]);
});

test("a longer one is shown with a button, and then for a moment that it is over", () => {
  let tries = 0;
  const show = banner(() => (tries += 1));
  show("lost");
  vi.advanceTimersByTime(600);
  document.querySelector<HTMLButtonElement>(".ui-banner-button")?.click();
  expect([text(), tries]).toEqual(["The server cannot be reached. Retrying…Try now", 1]);
  expect(document.documentElement.classList.contains("ui-banner-shown")).toBe(true);
  show("open");
  expect(text()).toBe("Connected again.");
  vi.advanceTimersByTime(2500);
  expect([text(), document.documentElement.classList.contains("ui-banner-shown")]).toEqual([undefined, false]);
});

test("the end of the session takes it away", () => {
  const show = banner(() => undefined);
  show("lost");
  vi.advanceTimersByTime(600);
  show("ended");
  expect(text()).toBeUndefined();
});
