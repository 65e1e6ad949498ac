import { describe, expect, test } from "vitest";
import { type ItemActions, itemView } from "../../src/nlui/items";
import type { Item } from "../../src/nlui/state";
import { buttonIn } from "../person/approval";

const NONE: ItemActions = { edit: null, again: null, resume: null, decide: null, review: null };
const item = (more: Partial<Item>): Item => ({ id: "i", kind: "notice", ...more });

describe("a message of the user", () => {
  const message = item({ kind: "user_message", text: "show the *orders*" });

  test("can be edited, and Escape gives up", () => {
    const edits: string[] = [];
    const { element } = itemView(message, { ...NONE, edit: (_, text) => Promise.resolve(void edits.push(text)) });
    document.body.replaceChildren(element);
    const open = (): HTMLTextAreaElement => {
      buttonIn(element, "Edit").click();
      const field = element.querySelector("textarea");
      if (!field) throw new Error("no field");
      return field;
    };
    open().dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
    expect([element.querySelector("textarea"), element.textContent]).toEqual([null, "show the ordersCopyEdit"]);
    const field = open();
    expect(field.value).toBe("show the *orders*");
    field.value = " other ";
    field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
    field.value = "  ";
    buttonIn(element, "Send").click();
    expect(edits).toEqual(["other"]);
  });

  test("can be asked again", () => {
    const again: string[] = [];
    const { element } = itemView(message, { ...NONE, again: ({ id }) => void again.push(id) });
    buttonIn(element, "Ask again").click();
    expect(again).toEqual(["i"]);
  });

  test("has a switch between its versions", () => {
    const gone: string[] = [];
    const several = item({ ...message, versions: ["a", "i", "z"] });
    const { element } = itemView(several, { ...NONE, version: (id) => void gone.push(id) });
    buttonIn(element, "‹").click();
    buttonIn(element, "›").click();
    expect([gone, element.querySelector("[role=group]")?.textContent]).toEqual([["a", "z"], "‹2/3›"]);
    expect(itemView(several, NONE).element.querySelector("[role=group]")).toBeNull();
  });

  test("shows the names of its files, and keeps them out of the text that is edited", () => {
    const { element } = itemView(item({ ...message, text: `Look\n\n[a.png](attachment:${"0".repeat(64)})` }), { ...NONE, edit: () => Promise.resolve() });
    expect(element.querySelector(".nlui-attached")?.textContent).toBe("a.png");
    buttonIn(element, "Edit").click();
    expect(element.querySelector("textarea")?.value).toBe("Look");
  });

  test("can only be copied where the page offers no actions", () => {
    expect([...itemView(message, NONE).element.querySelectorAll("button")].map((one) => one.textContent)).toEqual(["Copy"]);
  });
});

describe("a tool call", () => {
  test("shows arguments and result, open unless it failed", () => {
    const call = item({ kind: "tool", name: "shop__list", status: "done", args: { limit: 5 }, content: { result: [{ id: 1 }], is_error: false } });
    const shown = itemView(call, NONE);
    expect([shown.label, shown.element.querySelector(".nlui-args")?.textContent, (shown.element as HTMLDetailsElement).open, shown.element.querySelector("td")?.textContent]).toEqual(["Tool List, done", '{\n  "limit": 5\n}', true, "1"]);
    expect(shown.element.querySelector<HTMLDetailsElement>(".nlui-sent")?.open).toBe(false);
    const failed = itemView(item({ kind: "tool", name: "shop__list", status: "error", content: { result: "no", is_error: true } }), NONE);
    expect([(failed.element as HTMLDetailsElement).open, failed.element.querySelector(".nlui-args")]).toEqual([false, null]);
  });

  test("is named in words, with its source beside it and its exact name inside", () => {
    const { element } = itemView(item({ kind: "tool", name: "shop__ship_order", status: "done" }), NONE);
    expect([element.querySelector("summary")?.textContent, element.querySelector("code")?.textContent]).toEqual(["Ship ordershopdone", "shop__ship_order"]);
  });
});

test("a call names who decided about it, and why", () => {
  const call = item({ kind: "tool", name: "shop__ship", status: "denied", decision: "denied", decided_by: "human", reason: "too early" });
  expect(itemView(call, NONE).element.querySelector(".nlui-status")?.textContent).toBe("not allowed, denied by you: too early");
});

describe("an approval", () => {
  test("shows method, address and risk, and all of its arguments", () => {
    const many = Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`field${String(n)}`, n]));
    const asked = item({ kind: "approval", tool: "shop__drop", status: "pending", approval_id: "a1", risk: "destroys", args: many, request: { method: "DELETE", url: "https://shop.example/1" } });
    const { element } = itemView(asked, { ...NONE, decide: () => undefined });
    expect([element.querySelector(".ask-head")?.textContent.includes("DELETE"), element.textContent.includes("https://shop.example/1")]).toEqual([true, true]);
    expect([element.classList.contains("ask-destroys"), element.querySelector(".nlui-primary"), Number(element.querySelector("textarea")?.rows)]).toEqual([true, null, 11]);
  });

  const question = item({ kind: "approval", tool: "shop__ship", status: "pending", approval_id: "a1", digest: "d1", risk: "writes", args: { id: 1 }, request: { method: "POST", url: "https://shop.example/1" } });

  test("is answered with its digest, and with arguments that were edited", () => {
    const replies: unknown[] = [];
    const { element } = itemView(question, { ...NONE, decide: (_, reply) => void replies.push(reply) });
    buttonIn(element, "For this session").click();
    buttonIn(element, "Deny").click();
    const field = element.querySelector("textarea");
    if (field) field.value = '{"id":2}';
    buttonIn(element, "Approve once").click();
    if (field) field.value = "{";
    buttonIn(element, "Always").click();
    expect(replies).toEqual([
      { approval_id: "a1", digest: "d1", approved: true, scope: "session" },
      { approval_id: "a1", digest: "d1", approved: false },
      { approval_id: "a1", digest: "d1", approved: true, scope: "once", arguments: { id: 2 } },
    ]);
    expect(element.querySelector("[role=alert]")?.textContent).toBe("The arguments are not JSON.");
  });

  test("says in words what would be done, with nothing that disguises it", () => {
    const { element } = itemView({ ...question, says: "Your agent wants to ship order 1\u202e in shop" }, { ...NONE, decide: () => undefined });
    expect(element.querySelector("h2")?.textContent).toBe("Your agent wants to ship order 1\\u202e in shop Changes data");
  });

  test("leads to the card where the page decides elsewhere", () => {
    const reviewed: (string | undefined)[] = [];
    const { element } = itemView(question, { ...NONE, review: ({ approval_id }) => void reviewed.push(approval_id) });
    buttonIn(element, "Review").click();
    expect([reviewed, itemView(question, NONE).element.querySelector("button")]).toEqual([["a1"], null]);
  });

  test("that was decided says how and by whom", () => {
    const { element } = itemView({ ...question, status: "denied", decided_by: "local", reason: "too early" }, NONE);
    expect(element.querySelector(".nlui-status")?.textContent).toBe("denied by local: too early");
  });
});

test("answers, ends of turns and notices are text", () => {
  expect(itemView(item({ kind: "assistant_markdown", md: "**hi**" }), NONE).element.querySelector("strong")?.textContent).toBe("hi");
  expect(itemView(item({ kind: "end_turn", reason: "abort" }), NONE).element.textContent).toBe("Stopped.");
  expect(itemView(item({ text: "careful", level: "warning" }), NONE).element.className).toContain("nlui-warning");
});

describe("an answer that is not whole", () => {
  const cut = item({ kind: "assistant_markdown", md: "First half,", partial: "stopped" });

  test("says so and can be continued", () => {
    let resumed = 0;
    const { element, label } = itemView(cut, { ...NONE, resume: () => { resumed++; } });
    buttonIn(element, "Continue").click();
    expect([label, resumed, element.textContent]).toEqual(["Assistant, Stopped", 1, "First half,StoppedCopyContinue"]);
  });

  test("offers nothing of that where turns cannot be begun", () => {
    expect(itemView(cut, NONE).element.textContent).toBe("First half,StoppedCopy");
  });
});

describe("a notice", () => {
  test("of an error is an alert, of a compaction is not", () => {
    const [failed, told] = ["error", "info"].map((level) => itemView(item({ level, text: "It says\nwhy" }), NONE));
    expect([failed?.element.getAttribute("role"), failed?.label, told?.element.getAttribute("role"), told?.label]).toEqual(["alert", "Error", null, "Notice"]);
  });
});

test("reasoning is folded, with the tokens beside it", () => {
  const view = itemView({ id: "s", kind: "sampling", reasoning: "First *this*.", usage: { input_tokens: 3, output_tokens: 4 } }, NONE);
  const folded = view.element as HTMLDetailsElement;
  expect([view.label, folded.open, folded.querySelector("summary")?.textContent, folded.querySelector("em")?.textContent]).toEqual(["Reasoning", false, "Reasoning3 tokens in, 4 out", "this"]);
});
