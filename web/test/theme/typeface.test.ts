import { afterEach, expect, it } from "vitest";
import { loadTypeface } from "../../src/theme/typeface";

const sheet = (): Element | null => document.head.querySelector('link[href="/look/typeface.css"]');

afterEach(() => {
  sheet()?.remove();
  localStorage.clear();
});

it("waits with the typeface until the app is shown, and not when the browser has it", () => {
  let shown = (): void => undefined;
  loadTypeface((load) => (shown = load));
  expect(sheet()).toBeNull();

  shown();
  sheet()?.dispatchEvent(new Event("load"));
  expect(sheet()).not.toBeNull();
  sheet()?.remove();

  loadTypeface(() => expect.unreachable());
  expect(sheet()).not.toBeNull();
});
