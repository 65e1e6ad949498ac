import { describe, expect, it } from "vitest";
import { echoed, empty, failed, merged, newest, stageOf, type Message } from "../../src/chat/log";

const message = (id: string, more: Partial<Message> = {}): Message => ({
  id,
  ts: "2026-01-01T00:00:00.000000Z",
  author: "user",
  mime: "text/markdown",
  content: id,
  ...more,
});

describe("log", () => {
  it("is in order and without doubles whatever comes in", () => {
    const log = merged(merged(empty, [message("3"), message("1")]), [message("2"), message("3")]);
    expect(log.messages.map(({ id }) => id)).toEqual(["1", "2", "3"]);
    expect(newest(log)).toBe("3");
  });

  it("replaces an echo by its message, whichever comes first", () => {
    const echo = { client_id: "c", content: "hi", failed: null };
    const arrived = message("1", { client_id: "c" });
    expect(merged(echoed(empty, echo), [arrived]).echoes).toEqual([]);
    expect(echoed(merged(empty, [arrived]), echo).echoes).toEqual([]);
  });

  it("keeps a failed echo with the reason", () => {
    const log = failed(echoed(empty, { client_id: "c", content: "hi", failed: null }), "c", "why");
    expect(log.echoes).toEqual([{ client_id: "c", content: "hi", failed: "why" }]);
  });

  it("tells how far a message got", () => {
    const receipts = { notified: "2", read: "1" };
    expect(["1", "2", "3"].map((id) => stageOf(message(id), receipts))).toEqual(["read", "notified", "sent"]);
  });
});
