import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { togglePanel } from "../../src/history/panel";
import { HistoryRequests } from "../../src/history/requests";

const STEPS = [
  { step: 3, at: 1_790_000_060, by: "agent", author: "agent", app: "todo", label: "Run todo.clean()" },
  { step: 2, at: 1_790_000_030, by: "person", author: "person:me", app: "todo", label: "Delete task 'milk'", undone: true },
  { step: 1, at: 1_790_000_000, by: "person", author: "person:other", app: "todo", label: "Add" },
];
let asked: { action: string; step?: number }[];
let answers: Record<string, object>;
let requests: HistoryRequests;

beforeEach(() => {
  document.elementsFromPoint = () => []; // there is no layout here
  vi.useFakeTimers();
  document.body.innerHTML = '<button id="opener">History</button>';
  asked = [];
  answers = { list: { first: 1, last: 3, steps: STEPS, me: "person:me" }, look: { session: "a".repeat(32) }, return: {}, undo: { label: "Add" } };
  requests = new HistoryRequests((frame) => {
    const { id, ...rest } = (JSON.parse(frame) as { data: { id: number; action: string; step?: number } }).data;
    asked.push(rest);
    const result = answers[rest.action];
    queueMicrotask(() => requests.receive(result === undefined ? { id, error: "not kept" } : { id, result: result as never }));
    return true;
  });
});

afterEach(() => {
  document.querySelector<HTMLElement>(".ui-history-close")?.click();
  vi.useRealTimers();
});

const settle = (): Promise<unknown> => vi.advanceTimersByTimeAsync(200);
const text = (selector: string): string[] => [...document.querySelectorAll(selector)].map((found) => found.textContent);
const click = (label: string): void => [...document.querySelectorAll<HTMLElement>(".ui-history button")].find((found) => found.textContent === label)?.click();

test("who did what is listed, newest first", async () => {
  togglePanel(requests);
  await settle();
  expect(text(".ui-history-label")).toEqual(["Run todo.clean()", "Delete task 'milk'", "Add"]);
  expect(text(".ui-history-who").map((who) => who.split(" · ")[0])).toEqual(["Agent", "You", "Undone", "Another page"]);
});

test("the slider shows a moment in a frame, and the way back hides it", async () => {
  togglePanel(requests);
  await settle();
  const slider = document.querySelector<HTMLInputElement>(".ui-history-slider");
  if (slider) {
    slider.value = "2";
    slider.dispatchEvent(new Event("input"));
  }
  await settle();
  expect(asked.at(-1)).toEqual({ action: "look", step: 2 });
  expect(document.querySelector(".ui-history-frame")?.getAttribute("src")).toBe(`/${"a".repeat(32)}/`);
  expect(document.querySelector<HTMLElement>(".ui-history-view")?.hidden).toBe(false);
  click("Back to now");
  expect(document.querySelector<HTMLElement>(".ui-history-view")?.hidden).toBe(true);
});

test("a moment can be returned to", async () => {
  togglePanel(requests);
  await settle();
  document.querySelectorAll<HTMLElement>(".ui-history-step")[2]?.click();
  await settle();
  click("Return here");
  await settle();
  expect(asked.map(({ action }) => action)).toEqual(["list", "look", "return", "list"]);
});

test("a moment that is not kept is said, and the app stays", async () => {
  delete answers["look"];
  togglePanel(requests);
  await settle();
  document.querySelector<HTMLElement>(".ui-history-step")?.click();
  await settle();
  expect(text(".ui-notice-text")).toEqual(["not kept"]);
  expect(document.querySelector<HTMLElement>(".ui-history-view")?.hidden).toBe(true);
});

test("Escape closes it, and the focus returns", async () => {
  document.getElementById("opener")?.focus();
  togglePanel(requests);
  await settle();
  document.querySelector(".ui-history-slider")?.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
  expect(document.querySelector(".ui-history")).toBeNull();
  expect(document.activeElement?.id).toBe("opener");
});

test("without a history the reason is shown", async () => {
  delete answers["list"];
  togglePanel(requests);
  await settle();
  expect(text(".ui-history-empty")).toEqual(["not kept"]);
});
