import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { showDuplicate, showEnded } from "../../src/page/status_pages";

beforeEach(() => (document.body.innerHTML = '<div class="app-container"><p>app</p></div>'));
afterEach(() => void vi.unstubAllGlobals());

test("the end of a session says why and leads to a new one", () => {
  showEnded("It crashed three times.");
  expect(document.querySelector(".app-container")?.textContent).toContain("It crashed three times.");
  expect([document.querySelector("a")?.getAttribute("href"), document.title, document.querySelector(".app-container > p")]).toEqual(["/", "Session ended", null]);
});

test("a second tab can be closed or opened all the same", () => {
  let opened = false;
  const close = vi.spyOn(window, "close").mockImplementation(() => undefined);
  showDuplicate({ session: "3", openAnyway: () => (opened = true) });
  const [closeLink, hereLink] = document.querySelectorAll("a");
  closeLink?.click();
  expect([close.mock.calls.length, document.querySelector(".ui-plain-hint")?.textContent]).toEqual([1, "The browser keeps this tab open. You can close it yourself."]);
  hereLink?.click();
  expect([opened, document.querySelector("p")?.textContent]).toEqual([true, "Session 3 is open in another tab of this browser, so this page did not start it again."]);
});

test("a desktop notification is shown where allowed, and otherwise asked for with the next click", async () => {
  const shown: string[] = [];
  const notifications = Object.assign(
    function (text: string) {
      shown.push(text);
    },
    { permission: "granted", requestPermission: () => Promise.resolve("granted") },
  );
  vi.stubGlobal("Notification", notifications);
  showDuplicate({ session: "3", openAnyway: () => undefined });
  expect(shown).toEqual(["Session 3 is already active in another tab."]);

  notifications.permission = "default";
  showDuplicate({ session: "4", openAnyway: () => undefined });
  expect(shown).toHaveLength(1);
  document.dispatchEvent(new Event("click"));
  await Promise.resolve();
  await Promise.resolve();
  expect(shown).toHaveLength(2);
});
