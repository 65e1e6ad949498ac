import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { askWithFirstClick } from "../../src/page/desktop_notification";

let asked = 0;
const requestPermission = (): Promise<string> => Promise.resolve(`${++asked}`);

beforeEach(() => {
  asked = 0;
  localStorage.clear();
});
afterEach(() => void vi.unstubAllGlobals());

test("permission is asked for with the first click, once per browser", () => {
  vi.stubGlobal("Notification", { permission: "default", requestPermission });
  askWithFirstClick();
  expect(asked).toBe(0);
  document.dispatchEvent(new Event("click"));
  document.dispatchEvent(new Event("click"));
  askWithFirstClick();
  document.dispatchEvent(new Event("click"));
  expect(asked).toBe(1);
});

test.each(["granted", "denied"])("nobody is asked who has answered: %s", (permission) => {
  vi.stubGlobal("Notification", { permission, requestPermission });
  askWithFirstClick();
  document.dispatchEvent(new Event("click"));
  expect(asked).toBe(0);
});
