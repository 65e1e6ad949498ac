import { afterEach, expect, test, vi } from "vitest";
import { navigation, remember, viewOfAddress } from "../../src/person/navigation";

afterEach(() => history.replaceState(null, "", "/"));

test("the chosen view is marked", () => {
  const choose = vi.fn();
  const nav = navigation(choose);
  nav.show("apps");
  nav.element.querySelector<HTMLElement>(".person-to-settings")?.click();
  expect([nav.element.querySelector("[aria-current]")?.textContent, choose.mock.calls]).toEqual(["All apps", [["settings"]]]);
});

test("main views are addresses, others are not", () => {
  history.replaceState(null, "", "/chat");
  remember("app");
  const kept = location.pathname;
  remember("apps");
  const apps = [location.pathname, viewOfAddress()];
  remember("app");
  expect([kept, apps, location.pathname]).toEqual(["/chat", ["/apps", "apps"], "/"]);
});
