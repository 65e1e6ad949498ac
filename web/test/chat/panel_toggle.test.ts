import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { offerChat } from "../../src/chat/panel_toggle";

let page: { head_id: string | null; messages: unknown[] };
let asked: string[];

beforeEach(() => {
  vi.useFakeTimers();
  page = { head_id: "5", messages: [] };
  asked = [];
  document.documentElement.className = "";
  vi.stubGlobal("fetch", (path: string) => {
    asked.push(path);
    return Promise.resolve(Response.json(page));
  });
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test("answers that come after the page was opened are marked as unread", async () => {
  offerChat((poll) => void setTimeout(poll, 1000));
  await vi.advanceTimersByTimeAsync(1000);
  await vi.advanceTimersByTimeAsync(10_000);
  expect([document.documentElement.classList.contains("chat-unread"), asked.at(-1)]).toEqual([false, "/chat/messages?limit=1&authors=assistant&after=5"]);
  page.messages = [{}];
  await vi.advanceTimersByTimeAsync(10_000);
  expect(document.documentElement.classList.contains("chat-unread")).toBe(true);
});
