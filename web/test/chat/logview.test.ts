import { beforeEach, describe, expect, test, vi } from "vitest";
import { echoed, empty, failed, type Log, merged, type Message } from "../../src/chat/log";
import { logView, type LogView } from "../../src/chat/logview";

const message = (id: string, more: Partial<Message> = {}): Message => ({ id, ts: "2026-01-01T10:00:00Z", author: "user", mime: "text/markdown", content: `text ${id}`, ...more });
let view: LogView;
let actions: string[];
const texts = (): (string | null)[] => [...view.element.querySelectorAll("li")].map((row) => row.querySelector(".chat-body")?.textContent ?? row.textContent);

beforeEach(() => {
  actions = [];
  view = logView({ earlier: () => void actions.push("earlier"), retry: (echo) => void actions.push(`retry ${echo.client_id}`) });
  document.body.replaceChildren(view.element);
});

function show(log: Log): void {
  view.show(log);
}

describe("the log", () => {
  test("shows messages in order and keeps the elements of those that stay", () => {
    show(merged(empty, [message("2")]));
    const second = view.element.querySelector("li");
    show(merged(empty, [message("1"), message("2")]));
    expect(texts()).toEqual(["text 1", "text 2"]);
    expect(view.element.querySelectorAll("li")[1]).toBe(second);
  });

  test("renders Markdown, and other types as they are", () => {
    show(merged(empty, [message("1", { content: "*a*" }), message("2", { content: "*b*", mime: "text/plain", author: "assistant" })]));
    expect([...view.element.querySelectorAll(".chat-body")].map((body) => body.innerHTML)).toEqual(["<p><em>a</em></p>", "<pre>*b*</pre>"]);
  });

  test("brings an own message back to be changed and sent again, where the person may write", () => {
    const again = (): HTMLElement | null => view.element.querySelector(".chat-again");
    show(merged(empty, [message("1"), message("2", { author: "assistant" })]));
    expect(again()).toBeNull();
    view = logView({ earlier: () => undefined, retry: () => undefined, suggest: (text) => void actions.push(text) });
    show(merged(empty, [message("1"), message("2", { author: "assistant" })]));
    expect(view.element.querySelectorAll(".chat-again")).toHaveLength(1);
    again()?.click();
    expect(actions).toEqual(["text 1"]);
  });

  test("lets the person copy what the agent wrote, as Markdown", async () => {
    const copied: string[] = [];
    vi.stubGlobal("navigator", { clipboard: { writeText: (text: string) => Promise.resolve(void copied.push(text)) } });
    show(merged(empty, [message("1"), message("2", { content: "**b**", author: "assistant" })]));
    const buttons = [...view.element.querySelectorAll<HTMLElement>(".chat-copy")];
    buttons.forEach((one) => one.click());
    await vi.waitFor(() => expect(buttons.map((one) => one.getAttribute("aria-label"))).toEqual(["Copied"]));
    expect(copied).toEqual(["**b**"]);
    vi.unstubAllGlobals();
  });

  test("marks how far each message of the person got", () => {
    show({ ...merged(empty, [message("1"), message("2"), message("3"), message("4", { author: "assistant" })]), receipts: { notified: "2", read: "1" } });
    expect([...view.element.querySelectorAll(".chat-receipt")].map((mark) => mark.getAttribute("aria-label"))).toEqual(["Read by the agent", "Agent notified", "Waiting for an agent"]);
  });

  test("says what to do while no agent has received the newest message", () => {
    const note = view.element.querySelector<HTMLElement>(".chat-unheard");
    show(merged(empty, [message("1")]));
    expect([note?.hidden, note?.textContent]).toEqual([false, "No agent has received this yet. It waits here for the next one. To connect an agent, run ui-mcp setup in the project."]);
    show({ ...merged(empty, [message("1")]), receipts: { notified: "1", read: null } });
    expect(note?.hidden).toBe(true);
    show(merged(empty, [message("1"), message("2", { author: "assistant" })]));
    expect(note?.hidden).toBe(true);
  });

  test("shows a message that is being sent, and a failed one with its reason and a way to send it again", () => {
    const log = echoed(empty, { client_id: "c", content: "hi", failed: null });
    show(log);
    expect(view.element.querySelector(".chat-sending")?.textContent).toContain("Sending…");
    show(failed(log, "c", "No network."));
    expect(view.element.querySelector(".chat-failed")?.textContent).toContain("No network.");
    view.element.querySelector<HTMLButtonElement>(".chat-failed button")?.click();
    expect(actions).toEqual(["retry c"]);
  });

  test("says that it is empty only when that is known", () => {
    const welcome = view.element.querySelector<HTMLElement>(".chat-empty");
    show(empty);
    expect(welcome?.hidden).toBe(true);
    view.ready();
    expect(welcome?.hidden).toBe(false);
    show(merged(empty, [message("1")]));
    expect(welcome?.hidden).toBe(true);
  });

  test("puts what the agent did after the message it follows", () => {
    const row = (text: string): HTMLElement => Object.assign(document.createElement("li"), { textContent: text });
    show(merged(empty, [message("1"), message("2")]));
    view.showActivity(new Map([["", [row("before")]], ["1", [row("between")]]]));
    expect(texts()).toEqual(["before", "text 1", "between", "text 2"]);
  });
});

describe("a message that the agent is writing", () => {
  test("stands at the end, is no message for screen readers, and gives way to the whole one", () => {
    show(merged(empty, [message("1")]));
    view.showActivity(new Map(), "Half of **an**");
    const writing = view.element.querySelector(".chat-writing");
    expect([texts(), writing?.getAttribute("aria-hidden")]).toEqual([["text 1", "Half of an"], "true"]);
    show(merged(empty, [message("1"), { ...message("2"), author: "assistant", content: "Half of **an** answer" }]));
    expect(view.element.querySelector(".chat-writing")).toBe(null);
    view.showActivity(new Map(), "");
    expect(texts()).toHaveLength(2);
  });
});

describe("scrolling", () => {
  const place = (height: number): void => void Object.defineProperties(view.element, { scrollHeight: { value: height, configurable: true }, clientHeight: { value: 100, configurable: true } });

  test("follows the end until the reader leaves it, and again after sending", () => {
    place(1000);
    show(merged(empty, [message("1")]));
    expect(view.element.scrollTop).toBe(1000);
    view.element.scrollTop = 300;
    view.element.dispatchEvent(new Event("scroll"));
    show(merged(empty, [message("1"), message("2")]));
    expect(view.element.scrollTop).toBe(300);
    view.stick();
    show(merged(empty, [message("1"), message("2")]));
    expect(view.element.scrollTop).toBe(1000);
  });

  test("near the top asks for earlier messages once, and keeps its place when they arrive", () => {
    place(1000);
    show({ ...merged(empty, [message("5")]), earlier: true });
    view.element.scrollTop = 50;
    view.element.dispatchEvent(new Event("scroll"));
    view.element.dispatchEvent(new Event("scroll"));
    expect(actions).toEqual(["earlier"]);
    const before = view.element.scrollTop;
    Object.defineProperty(view.element, "scrollHeight", {
      configurable: true,
      get: () => 1000 + view.element.querySelectorAll("li").length * 100 - 100,
    });
    show({ ...merged(empty, [message("3"), message("4"), message("5")]), earlier: true });
    expect(view.element.scrollTop).toBe(before + 200);
  });
});

test("agents that have a name are called by it", () => {
  show(merged(empty, [message("1"), message("2", { author: "assistant" }), message("3", { author: "assistant", name: "Ada" })]));
  expect([...view.element.querySelectorAll(".chat-author")].map((who) => who.textContent)).toEqual(["You", "Agent", "Ada"]);
});
