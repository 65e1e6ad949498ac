import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Forms, forms } from "../../src/nlui/forms";
import { ARMED_AFTER_MS } from "../../src/person/armed";
import type { Question } from "../../src/person/question";
import { buttonIn } from "../person/approval";

const form = (id: string, title: string): Question => ({
  id,
  kind: "form",
  source: "mcp",
  agent: "shop",
  title,
  body: { fields: [{ name: "size", label: "Size", kind: "text", options: [], required: false, other: false, help: "" }] },
  status: "pending",
  answer: null,
  decided_by: null,
  decided_at: null,
  created_at: 1_700_000_000,
  expires_at: 1_700_000_600,
});

let asked: Question[];
let down: boolean;
let sent: string[];
let said: string[];
let shown: Forms;

const fetcher = (path: string, options: RequestInit = {}): Promise<Response> => {
  if (down) return Promise.reject(new TypeError("failed"));
  if (options.method === "POST") {
    sent.push(path);
    asked = [];
  }
  return Promise.resolve(new Response(JSON.stringify({ questions: asked })));
};

const poll = (): Promise<unknown> => vi.advanceTimersByTimeAsync(1600);
const cards = (): number => shown.element.querySelectorAll("article").length;

beforeEach(() => {
  vi.useFakeTimers();
  [asked, sent, said, down] = [[], [], [], false];
  shown = forms(fetcher, (words) => void said.push(words));
  document.body.replaceChildren(shown.element);
  shown.start();
});

afterEach(() => {
  shown.stop();
  vi.useRealTimers();
});

test("nothing is shown while no server asks", async () => {
  await poll();
  expect([shown.element.hidden, shown.waiting(), said]).toEqual([true, false, []]);
});

test("forms appear with their words and go when they are answered elsewhere", async () => {
  asked = [form("q1", "shop asks: Which size?"), form("q2", "bank asks: Whose account?")];
  await poll();
  expect([cards(), shown.element.hidden, shown.waiting(), said]).toEqual([2, false, true, ["shop asks: Which size?. bank asks: Whose account?"]]);
  asked = [];
  await poll();
  expect([cards(), shown.element.hidden, shown.waiting(), said.at(-1)]).toEqual([0, true, false, ""]);
});

test("an answer is sent, and its form goes at once", async () => {
  asked = [form("q1", "Which size?")];
  await vi.advanceTimersByTimeAsync(1600 + ARMED_AFTER_MS);
  buttonIn(shown.element, "Send").click();
  await vi.advanceTimersByTimeAsync(10);
  expect([sent.length, cards()]).toEqual([1, 0]);
});

test("a form stays while the server cannot be reached", async () => {
  asked = [form("q1", "Which size?")];
  await poll();
  down = true;
  await poll();
  expect(cards()).toBe(1);
});

test("after a stop nothing is shown and an answer that comes late changes nothing", async () => {
  asked = [form("q1", "Which size?")];
  shown.start();
  shown.stop();
  await poll();
  expect([cards(), shown.element.hidden]).toEqual([0, true]);
});
