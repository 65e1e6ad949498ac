import { expect, test, vi } from "vitest";
import { type Account, accounts } from "../../src/person/accounts";
import type { Fetch } from "../../src/person/client";

const OUT: Account = { name: "files", url: "https://files.example/mcp", state: "signed out" };
const IN: Account = { ...OUT, state: "signed in", account: "ada", issuer: "https://id.example", scopes: ["read"], kept_in: "keyring" };

function server(...lists: readonly (readonly Account[])[]): { readonly fetch: Fetch; readonly sent: unknown[] } {
  const left = [...lists];
  const sent: unknown[] = [];
  const fetch: Fetch = (path, options) => {
    if (options?.method === "POST") {
      sent.push([path, JSON.parse(options.body as string)]);
      return Promise.resolve(new Response("{}"));
    }
    return Promise.resolve(new Response(JSON.stringify({ accounts: left.length > 1 ? left.shift() : left[0] })));
  };
  return { fetch, sent };
}

function press(element: HTMLElement, name: string): void {
  const found = [...element.querySelectorAll("button")].find((one) => one.getAttribute("aria-label") === name || one.textContent === name);
  expect(found, name).toBeDefined();
  found?.click();
}

test("a sign-in is begun, waits with the page to open, and ends as signed in", async () => {
  vi.useFakeTimers();
  const waiting = { ...OUT, waiting: { url: "https://id.example/auth?x", user_code: "" } };
  const { fetch, sent } = server([OUT], [waiting], [IN]);
  const view = accounts(fetch);
  view.shown(true);
  await vi.advanceTimersByTimeAsync(1);
  press(view.element, "Sign in to files");
  await vi.advanceTimersByTimeAsync(1);
  const link = view.element.querySelector("a");
  await vi.advanceTimersByTimeAsync(2000);
  view.stop();
  vi.useRealTimers();
  expect(sent).toEqual([["/sign-ins/begin", { name: "files", way: "browser" }]]);
  expect([link?.textContent, link?.href, link?.target, link?.rel]).toEqual(["Continue at id.example", "https://id.example/auth?x", "_blank", "noopener noreferrer"]);
  expect(view.element.querySelector(".acc-spoken")?.textContent).toBe("You are signed in to files.");
  expect(view.element.querySelector(".acc-state")?.textContent).toBe("signed in as ada");
});

test("a code for another device is shown, and the wait can be ended", async () => {
  const waiting = { ...OUT, waiting: { url: "https://id.example/device", user_code: "WDJB-MJHT" } };
  const { fetch, sent } = server([waiting]);
  const view = accounts(fetch);
  view.shown(true);
  await vi.waitFor(() => expect(view.element.querySelector(".acc-code")?.textContent).toBe("WDJB-MJHT"));
  press(view.element, "Cancel");
  await vi.waitFor(() => expect(sent).toEqual([["/sign-ins/cancel", { name: "files" }]]));
  view.stop();
});

test("signing out, why a sign-in ended, and an empty list", async () => {
  const ended = { ...OUT, problem: "The sign-in has expired" };
  const { fetch, sent } = server([IN], [ended], []);
  const view = accounts(fetch);
  view.shown(true);
  await vi.waitFor(() => expect(view.element.textContent).toContain("your system’s keyring"));
  press(view.element, "Sign out of files");
  await vi.waitFor(() => expect(view.element.textContent).toContain("The sign-in has expired"));
  view.shown(true);
  await vi.waitFor(() => expect(view.element.textContent).toContain("No server or API has asked you to sign in."));
  expect(sent).toEqual([["/sign-ins/sign-out", { name: "files" }]]);
});

test("a failed request is shown and the list stays", async () => {
  let isAway = false;
  const fetch: Fetch = () => (isAway ? Promise.reject(new Error("offline")) : Promise.resolve(new Response(JSON.stringify({ accounts: [OUT] }))));
  const view = accounts(fetch);
  view.shown(true);
  await vi.waitFor(() => expect(view.element.textContent).toContain("files"));
  isAway = true;
  press(view.element, "Sign in to files");
  await vi.waitFor(() => expect(view.element.querySelector(".acc-problem")?.textContent).toContain("offline"));
  expect(view.element.querySelector("strong")?.textContent).toBe("files");
});
