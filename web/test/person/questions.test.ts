import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ARMED_AFTER_MS } from "../../src/person/armed";
import { pauseAfter, questions, type Questions } from "../../src/person/questions";
import type { Question } from "../../src/person/question";
import type { Approval } from "../../src/person/request";
import { approval, buttonIn } from "./approval";

let pending: Approval[];
let past: Approval[];
let proposals: unknown[];
let down: boolean;
let asked: Question[];
let sent: unknown[];
let reported: unknown[];
let list: Questions;

const fetcher = (path: string, options: RequestInit = {}): Promise<Response> => {
  if (down) return Promise.reject(new TypeError("failed"));
  if (options.method === "POST") {
    sent.push([path, JSON.parse(options.body as string)]);
    return Promise.resolve(new Response(JSON.stringify({ results: [{}, { error: { message: "too late" } }] })));
  }
  if (path.startsWith("/inbox")) {
    return Promise.resolve(new Response(JSON.stringify({ questions: path.includes("history") ? [] : asked })));
  }
  return Promise.resolve(new Response(JSON.stringify({ approvals: path.includes("history") ? past : pending, proposals })));
};

const poll = (): Promise<unknown> => vi.advanceTimersByTimeAsync(1600);
const titles = (): (string | null)[] => [...list.element.querySelectorAll("article[id] code")].map((code) => code.textContent);

beforeEach(() => {
  vi.useFakeTimers();
  [pending, past, proposals, asked, sent, reported, down] = [[], [], [], [], [], [], false];
  list = questions(fetcher, { waiting: (count, news) => void reported.push([count, news]), trouble: (why, seconds) => why !== null && void reported.push([why, seconds]) }, true);
  document.body.replaceChildren(list.element);
});

afterEach(() => {
  list.stop();
  vi.useRealTimers();
});

test("calls appear and go with each poll, and are reported", async () => {
  pending = [approval(), approval({ id: "a2", tool: "shop__list" })];
  await poll();
  expect([titles(), reported.at(-1)]).toEqual([["shop__ship", "shop__list"], [2, "2 new questions"]]);
  pending = [approval({ id: "a2", tool: "shop__list" })];
  await poll();
  expect([titles(), reported.at(-1)]).toEqual([["shop__list"], [1, ""]]);
});

test("a card stays the same element, and takes no click right after another has gone", async () => {
  pending = [approval(), approval({ id: "a2" })];
  await poll();
  const second = document.getElementById("approval-a2");
  await vi.advanceTimersByTimeAsync(ARMED_AFTER_MS);
  pending = [approval({ id: "a2" })];
  await vi.advanceTimersByTimeAsync(1100);
  expect([document.getElementById("approval-a2"), second && buttonIn(second, "Approve once").disabled]).toEqual([second, true]);
});

test("several can be denied at once, and destructive ones never approved at once", async () => {
  pending = [approval(), approval({ id: "a2", risk: "destroys", digest: "d2" })];
  await poll();
  for (const box of list.element.querySelectorAll<HTMLInputElement>("[type=checkbox]")) box.click();
  expect(buttonIn(list.element, "Approve selected").disabled).toBe(true);
  buttonIn(list.element, "Deny selected").click();
  await vi.advanceTimersByTimeAsync(10);
  expect(sent).toEqual([["/approvals/decisions", { decisions: [{ id: "a1", digest: "d1", decision: "deny_continue" }, { id: "a2", digest: "d2", decision: "deny_continue" }] }]]);
  expect(list.element.querySelector(".questions-said")?.textContent).toBe("1 answered; 1 not: too late");
});

test("an approval that is asked for is shown as soon as it is there", async () => {
  list.focus("a2");
  pending = [approval(), approval({ id: "a2" })];
  await poll();
  expect(document.activeElement?.id).toBe("title-a2");
});

test("past decisions are listed", async () => {
  past = [approval({ status: "approved", decided_by: "local", decided_at: 1_700_000_100, execution: { state: "done" }, answer_reason: "fine" })];
  await poll();
  expect(list.element.querySelector(".questions-past")?.textContent).toContain("approved by local");
});

test("proposed rules are shown with their effect, and answered", async () => {
  const rule = { id: "r1", rationale: "You always allow it", principal: "helper", rule: { decision: "allow" }, replay: { calls: 3, allow: 2, unknown: 1, would_have_allowed_what_was_denied: [1] } };
  proposals = [rule];
  await poll();
  const card = list.element.querySelector("[aria-label='Proposed rule']");
  expect(card?.querySelector(".effect")?.textContent).toBe("Of the last 3 calls it would allow 2, is unclear about 1. It would allow 1 that you denied.");
  await vi.advanceTimersByTimeAsync(ARMED_AFTER_MS);
  if (card) buttonIn(card, "Accept").click();
  proposals = [];
  await poll();
  expect([sent, list.element.querySelector("[aria-label='Proposed rule']")]).toEqual([[["/approvals/proposals/r1", { decision: "accepted" }]], null]);
});

test("while the server is away it is asked less and less often", async () => {
  await poll();
  down = true;
  await poll();
  expect(reported.at(-1)).toEqual(["The server cannot be reached.", 3]);
  await vi.advanceTimersByTimeAsync(3000);
  expect(reported.at(-1)).toEqual(["The server cannot be reached.", 6]);
  down = false;
  list.refresh();
  await vi.advanceTimersByTimeAsync(10);
  expect(reported.at(-1)).toEqual([0, ""]);
});

test("the pause between polls doubles with each failure, up to half a minute", () => {
  expect([0, 1, 2, 9].map(pauseAfter)).toEqual([1500, 3000, 6000, 30_000]);
});

test("questions stand between the calls in the order they came", async () => {
  const permission: Question = { id: "q1", kind: "permission", source: "codex", agent: "Codex", title: "Codex wants to run a command", body: { tool: "shell", arguments: {} }, status: "pending", answer: null, decided_by: null, decided_at: null, created_at: 1_700_000_050, expires_at: 1_700_000_650 };
  pending = [approval(), approval({ id: "a2", created_at: 1_700_000_100 })];
  asked = [permission];
  await poll();
  expect([...list.element.querySelectorAll("article[id]")].map((one) => one.id)).toEqual(["approval-a1", "approval-q1", "approval-a2"]);
  pending = [];
  asked = [permission, { ...permission, id: "q2", kind: "form", body: { fields: [] } }];
  await poll();
  expect(reported.at(-1)).toEqual([2, "Codex has a question"]);
});
