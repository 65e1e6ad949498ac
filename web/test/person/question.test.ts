import { beforeEach, describe, expect, test, vi } from "vitest";
import type { Card } from "../../src/person/card";
import { RequestError } from "../../src/person/client";
import { answeredQuestion, type Question, questionCard } from "../../src/person/question";
import { buttonIn } from "./approval";

export const question = (more: Partial<Question> = {}): Question => ({
  id: "q1",
  kind: "permission",
  source: "claude-code",
  agent: "Claude Code",
  title: "Claude Code wants to run a command: rm -r build",
  body: { tool: "Bash", arguments: { command: "rm -r build" }, cwd: "/home/ann/shop", always: ["Bash(rm:*)"], stops: true },
  status: "pending",
  answer: null,
  decided_by: null,
  decided_at: null,
  created_at: 1_700_000_000,
  expires_at: 1_700_000_600,
  ...more,
});

const form = (): Question =>
  question({
    kind: "form",
    title: "Claude asks: Which colour?",
    body: { fields: [{ name: "1", label: "Which colour?", kind: "choice", options: [{ value: "red", label: "red" }], required: true, other: true, help: "" }] },
  });

let sent: unknown[];
let settled: string[];
let answer: () => Promise<Response>;

function open(row: Question): Card {
  const made = questionCard(row, {
    fetch: (path, options) => {
      sent.push([path, JSON.parse(options?.body as string)]);
      return answer();
    },
    settled: (words) => void settled.push(words),
    chosen: () => undefined,
  });
  document.body.replaceChildren(made.element);
  made.element.querySelectorAll("button").forEach((one) => (one.disabled = false));
  return made;
}

async function press(root: ParentNode, text: string): Promise<void> {
  buttonIn(root, text).click();
  await vi.waitFor(() => expect(document.querySelector("[aria-busy]")).toBeNull());
}

beforeEach(() => {
  sent = [];
  settled = [];
  answer = () => Promise.resolve(new Response("{}"));
});

describe("a permission", () => {
  test("is told in words first, with everything folded below", () => {
    const { element } = open(question());
    expect(element.querySelector("h2")?.textContent).toBe("Claude Code wants to run a command: rm -r build");
    expect(element.querySelector("details")?.open).toBe(false);
    expect(element.querySelector("details pre")?.textContent).toBe('{\n  "command": "rm -r build"\n}');
    expect(element.querySelector("details")?.textContent).toContain("In /home/ann/shop");
  });

  test.each([
    ["Allow once", "allow", "Allowed"],
    ["Deny", "deny", "Denied"],
    ["Deny and stop", "deny_stop", "Denied and stopped"],
    ["Always allow", "allow_always", "Always allowed"],
  ])("by %s is sent once", async (text, decision, said) => {
    const { element } = open(question());
    await press(element, text);
    expect(sent).toEqual([["/inbox/q1/answer", { decision, values: null, reason: null }]]);
    expect(settled).toEqual([`${said}: Claude Code wants to run a command: rm -r build`]);
  });

  test("for ever shows its rules first, and only where the host offers some", () => {
    const { element } = open(question());
    const rules = element.querySelector<HTMLElement>(".ask-lasting");
    expect(rules?.hidden).toBe(true);
    buttonIn(element, "Always…").click();
    expect([rules?.hidden, rules?.querySelector("pre")?.textContent]).toEqual([false, "Bash(rm:*)"]);
    open(question({ body: { tool: "Bash", arguments: {} } }));
    expect(() => buttonIn(document.body, "Always…")).toThrow();
    expect(() => buttonIn(document.body, "Deny and stop")).toThrow();
  });

  test("that came too late says so on the card", async () => {
    answer = () => Promise.reject(new RequestError(410, "expired", "The time for an answer is over"));
    const { element } = open(question());
    await press(element, "Allow once");
    expect(element.querySelector("[role=alert]")?.textContent).toBe("The time for an answer is over");
    expect(settled).toEqual([""]);
  });
});

describe("a form", () => {
  test("sends the answers", async () => {
    const { element } = open(form());
    element.querySelector<HTMLInputElement>("input[value=red]")?.click();
    await press(element, "Send");
    expect(sent).toEqual([["/inbox/q1/answer", { decision: "answer", values: { 1: "red" }, reason: null }]]);
  });

  test("can be left", async () => {
    const { element } = open(form());
    await press(element, "Not now");
    expect(sent).toEqual([["/inbox/q1/answer", { decision: "decline", values: null, reason: null }]]);
  });

  test("is not sent by Enter before its buttons take clicks", () => {
    const { element } = open(form());
    element.querySelectorAll("button").forEach((one) => (one.disabled = true));
    element.querySelector("form")?.dispatchEvent(new Event("submit", { cancelable: true }));
    expect(sent).toEqual([]);
  });
});

test("a form without fields is confirmed", async () => {
  const { element } = open(question({ kind: "form", body: {} }));
  await press(element, "OK");
  expect(sent).toEqual([["/inbox/q1/answer", { decision: "answer", values: {}, reason: null }]]);
});

test("a permission carries its reason, and needs no details", async () => {
  const { element } = open(question({ body: {} }));
  expect(element.querySelector("details")?.textContent).toBe("Details of {}");
  const reason = element.querySelector<HTMLInputElement>("[aria-label=Reason]");
  if (reason) reason.value = " too early ";
  await press(element, "Deny");
  expect(sent).toEqual([["/inbox/q1/answer", { decision: "deny", values: null, reason: "too early" }]]);
});

test("a card takes the focus, and no part in decisions about several", () => {
  const made = open(question());
  made.focus();
  made.offerChoice(true);
  expect([document.activeElement?.id, made.isChosen(), made.row]).toEqual(["title-q1", false, null]);
});

test.each([
  ["answered", { decision: "allow", reason: "fine" }, "allowed", true],
  ["expired", null, "expired", false],
])("a question that is %s is listed with its outcome", (status, said, words, good) => {
  const row = answeredQuestion(question({ status, answer: said, decided_at: good ? 1_700_000_100 : null }));
  expect(row.querySelector(good ? ".questions-good" : ".questions-bad")?.textContent).toBe(words);
});
