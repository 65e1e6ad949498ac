import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { addresses } from "../../src/page/address";

const say = (app: string | undefined, path = "", title = "T"): string => JSON.stringify({ app, path, title });

beforeEach(() => {
  document.head.innerHTML = '<link id="app-favicon" href="data:,">';
  history.replaceState(null, "", "/");
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

test("the first address replaces, another app is a step", () => {
  const push = vi.spyOn(history, "pushState");
  const page = addresses(() => undefined);

  page.show(say("mail"));
  expect(location.pathname).toBe("/app/mail");
  expect(push).not.toHaveBeenCalled();
  page.show(say("shop"));
  expect(location.pathname).toBe("/app/shop");
  expect(push).toHaveBeenCalledOnce();
  expect(document.title).toBe("T");
});

test("a place inside an app is a step only after an action of the person", () => {
  const push = vi.spyOn(history, "pushState");
  const page = addresses(() => undefined);
  page.show(say("mail", "in"));

  page.show(say("mail", "out"));
  expect(push).not.toHaveBeenCalled();
  page.acted();
  page.show(say("mail", "sent"));
  expect(push).toHaveBeenCalledOnce();
  expect(page.here()).toBe("/app/mail/sent");
});

test("the id of a session stays in the address", () => {
  history.replaceState(null, "", "/0123456789abcdef0123456789abcdef/");
  const page = addresses(() => undefined);

  page.show(say("mail"));

  expect(location.pathname).toBe("/0123456789abcdef0123456789abcdef/app/mail");
  expect(page.here()).toBe("/app/mail");
});

test("going back tells where to", () => {
  const gone: string[] = [];
  addresses((address) => gone.push(address));

  dispatchEvent(new PopStateEvent("popstate"));

  expect(gone).toEqual(["/"]);
});

test("the icon is the app's, unless the app has set another one", () => {
  vi.useFakeTimers();
  const page = addresses(() => undefined);
  const icon = document.querySelector("link");
  page.show(say("mail"));
  expect(icon?.getAttribute("href")).toBe("data:,");
  vi.runAllTimers();
  expect(icon?.getAttribute("href")).toBe("/app/mail/favicon.svg");

  icon?.setAttribute("href", "/mine.svg");
  page.show(say("mail", "in"));
  vi.runAllTimers();
  expect(icon?.getAttribute("href")).toBe("/mine.svg");
  page.show(say(undefined));
  vi.runAllTimers();
  expect(icon?.getAttribute("href")).toBe("data:,");
});
