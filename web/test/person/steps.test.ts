import { expect, test, vi } from "vitest";
import type { Fetch } from "../../src/person/client";
import { steps } from "../../src/person/steps";

const TODOS = [
  { content: "Design", status: "completed", active: "" },
  { content: "Code", status: "in_progress", active: "Writing code" },
];

test("the steps follow what the server tells, and can be hidden", async () => {
  const answers: unknown[] = [{ version: 1, todos: TODOS, apps: {} }];
  const fetch: Fetch = () => (answers.length ? Promise.resolve(new Response(JSON.stringify(answers.shift()))) : new Promise(() => undefined));
  const changed = vi.fn();
  const view = steps(fetch, changed);
  await vi.waitFor(() => expect(changed).toHaveBeenCalledOnce());
  const title = view.element.querySelector(".steps-title")?.textContent;
  const shown = [...view.element.querySelectorAll("li")].map((one) => one.textContent);
  view.element.querySelector<HTMLElement>(".steps-dismiss")?.click();
  view.stop();
  expect([title, shown, view.element.hidden]).toEqual(["Writing code · 1 of 2", ["✓Design", "▸Writing code"], true]);
});

test("without steps nothing is shown, and a failure is tried again", async () => {
  vi.useFakeTimers();
  const fetch = vi.fn<Fetch>(() => Promise.reject(new Error("offline")));
  const view = steps(fetch, vi.fn());
  await vi.advanceTimersByTimeAsync(5100);
  view.stop();
  vi.useRealTimers();
  expect([view.element.hidden, fetch.mock.calls.length]).toEqual([true, 2]);
});
