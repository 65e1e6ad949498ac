import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { badge, notify, offerNotifications } from "../../src/person/attention";
import { buttonIn } from "./approval";

let shown: { text: string; onclick: (() => void) | null; close: () => void }[];
let asked: number;

function allow(permission: NotificationPermission): void {
  class Fake {
    static permission = permission;
    static requestPermission(): Promise<NotificationPermission> {
      asked += 1;
      Fake.permission = "granted";
      return Promise.resolve("granted");
    }
    onclick = null;
    close = vi.fn();
    constructor(readonly text: string) {
      shown.push(this);
    }
  }
  vi.stubGlobal("Notification", Fake);
}

beforeEach(() => {
  [shown, asked] = [[], 0];
  document.head.innerHTML = '<link rel="icon" href="data:,">';
  vi.spyOn(document, "hidden", "get").mockReturnValue(true);
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const icon = (): string => decodeURIComponent(document.querySelector<HTMLLinkElement>("link")?.href ?? "");

test("the icon shows how many wait, and nothing when none do", () => {
  badge(3);
  expect(icon()).toContain(">3</text>");
  badge(120);
  expect(icon()).toContain(">99+</text>");
  badge(0);
  expect(icon()).toBe("data:,");
});

test("a page without an icon stays without one", () => {
  document.head.replaceChildren();
  badge(3);
  expect(document.querySelector("link")).toBeNull();
});

test("an installed page has the number on its own icon", () => {
  const set = vi.fn(() => Promise.reject(new Error("not installed")));
  const clear = vi.fn(() => Promise.resolve());
  Object.assign(navigator, { setAppBadge: set, clearAppBadge: clear });
  badge(2);
  badge(0);
  expect([set.mock.calls, clear.mock.calls]).toEqual([[[2]], [[]]]);
});

test("a notification is shown while the page is out of sight, and opens the inbox", () => {
  allow("granted");
  const open = vi.fn();
  vi.spyOn(window, "focus").mockImplementation(() => undefined);
  notify("Claude has a question", open);
  shown[0]?.onclick?.();
  expect([shown.map((one) => one.text), open.mock.calls.length]).toEqual([["Claude has a question"], 1]);
});

test("nothing is shown without permission, or on a page that is in sight", () => {
  allow("denied");
  notify("x", () => undefined);
  allow("granted");
  vi.spyOn(document, "hidden", "get").mockReturnValue(false);
  notify("x", () => undefined);
  expect(shown).toEqual([]);
});

test("permission is asked for by a button, which then goes", async () => {
  allow("default");
  const offer = offerNotifications();
  expect(offer.hidden).toBe(false);
  buttonIn(offer, "Notify me of new questions").click();
  await vi.waitFor(() => expect(offer.hidden).toBe(true));
  expect(asked).toBe(1);
});

test("a phone gets push messages, so the button is not offered there", () => {
  allow("default");
  document.head.innerHTML = '<link rel="manifest" href="/manifest.webmanifest">';
  expect(offerNotifications().hidden).toBe(true);
  document.head.replaceChildren();
});

test("a browser that shows notifications only from a service worker is left alone", () => {
  const refused = vi.fn(function () {
    throw new TypeError("Illegal constructor");
  });
  vi.stubGlobal("Notification", Object.assign(refused, { permission: "granted" }));
  expect(() => notify("x", () => undefined)).not.toThrow();
  expect(refused).toHaveBeenCalledOnce();
});
