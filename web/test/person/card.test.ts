import { beforeEach, describe, expect, test, vi } from "vitest";
import { card, type Card } from "../../src/person/card";
import { RequestError } from "../../src/person/client";
import type { Approval } from "../../src/person/request";
import { approval, buttonIn } from "./approval";

let sent: unknown[];
let settled: string[];
let answer: () => Promise<Response>;

function open(row: Approval): Card {
  const made = card(row, {
    fetch: (path, options) => {
      sent.push([path, JSON.parse(options?.body as string)]);
      return answer();
    },
    settled: (words) => void settled.push(words),
    chosen: () => void settled.push("chosen"),
  });
  document.body.replaceChildren(made.element);
  made.element.querySelectorAll("button").forEach((button) => (button.disabled = false));
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

describe("a decision", () => {
  test.each([
    ["Approve once", "approve", "Approved: shop__ship"],
    ["Deny", "deny_continue", "Denied: shop__ship"],
    ["Deny and stop", "deny_abort", "Denied: shop__ship"],
  ])("by %s is sent with the digest of what was shown", async (text, decision, said) => {
    const { element } = open(approval());
    await press(element, text);
    expect([sent, settled]).toEqual([[["/approvals/a1/decision", { decision, digest: "d1", scope: "once", reason: null }]], [said]]);
  });

  test("carries the reason", async () => {
    const { element } = open(approval());
    const reason = element.querySelector<HTMLInputElement>("[aria-label=Reason]");
    if (reason) reason.value = " too early ";
    await press(element, "Deny");
    expect(sent).toEqual([["/approvals/a1/decision", { decision: "deny_continue", digest: "d1", scope: "once", reason: "too early" }]]);
  });

  test("with edited arguments sends them instead", async () => {
    const { element } = open(approval());
    buttonIn(element, "Edit arguments").click();
    const field = element.querySelector<HTMLTextAreaElement>("[aria-label='Edited arguments']");
    if (!field) throw new Error("no field");
    field.value = "[1]";
    await press(element, "Approve once");
    expect([sent, element.querySelector("[role=alert]")?.textContent]).toEqual([[], "The arguments cannot be read as JSON: an object in braces is required"]);
    field.value = '{"id":2}';
    await press(element, "Approve once");
    expect(sent).toEqual([["/approvals/a1/decision", { decision: "approve_with_edit", digest: "d1", scope: "once", reason: null, arguments: { id: 2 } }]]);
  });

  test("that lasts shows what it covers first, and sends what was chosen", async () => {
    const { element } = open(approval({ covers: { id: "1", note: "*" } }));
    buttonIn(element, "Always…").click();
    const panel = element.querySelector("section");
    if (!panel) throw new Error("no panel");
    expect([...panel.querySelectorAll("dd")].map((value) => value.textContent)).toEqual(["shop__ship", "1", "anything"]);
    const field = panel.querySelector("textarea");
    if (field) field.value = '{"id":"*"}';
    await press(panel, "Always allow");
    expect(sent).toEqual([["/approvals/a1/decision", { decision: "approve", digest: "d1", scope: "always", reason: null, pattern: { id: "*" } }]]);
    buttonIn(panel, "Cancel").click();
    expect(panel.hidden).toBe(true);
  });

  test("that came too late says why, and the list is refreshed", async () => {
    answer = () => Promise.reject(new RequestError(409, "already_decided", "It was decided already."));
    const { element } = open(approval());
    await press(element, "Approve once");
    expect([element.querySelector("[role=alert]")?.textContent, settled]).toEqual(["It was decided already.", [""]]);
  });
});

describe("a card", () => {
  test("of a destructive call puts the denial first", () => {
    const { element } = open(approval({ risk: "destroys" }));
    expect([...element.querySelectorAll(".ask-answers button")].map((button) => button.textContent)).toEqual(["Deny", "Deny and stop", "Approve once", "For this session…", "Always…", "Edit arguments"]);
  });

  test("shows the whole request, with hidden characters escaped", () => {
    const { element } = open(approval({ reason: "It writes", preview: { method: "POST", url: "https://shop.example/orders/1", body: '{"a":1}', headers: { "X-A": "b" }, curl: "curl\u200b" } }));
    expect([...element.querySelectorAll("pre")].map((block) => block.textContent)).toEqual(['{\n  "a": 1\n}', '{\n  "id": 1\n}', "X-A: b", "curl\\u200b"]);
    expect(element.querySelector(".ask-who")?.textContent).toContain("Reason: It writes");
    expect(element.querySelector(".ask-head")?.textContent).toBe("POSThttps://shop.example/orders/1");
  });

  test("can be chosen among several", () => {
    const made = open(approval());
    const box = made.element.querySelector<HTMLInputElement>("[type=checkbox]");
    made.offerChoice(true);
    box?.click();
    expect([made.isChosen(), settled]).toEqual([true, ["chosen"]]);
    made.offerChoice(false);
    expect([made.isChosen(), box?.hidden]).toEqual([false, true]);
    made.focus();
    expect(document.activeElement?.id).toBe("title-a1");
  });
});
