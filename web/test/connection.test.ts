import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { connect, type Status } from "../src/transport/connection";
import type { Listener } from "../src/transport/transport";

describe("a connection", () => {
  let lines: Listener[];
  let sent: string[];
  let seen: string[];
  let reachable: () => Promise<boolean>;

  const open = () =>
    connect(
      (listener) => {
        lines.push(listener);
        return { send: (frame) => void sent.push(frame), close: () => undefined };
      },
      { opened: () => void seen.push("opened"), frame: (text) => void seen.push(text), status: (status: Status) => void seen.push(status) },
      () => reachable(),
    );

  beforeEach(() => {
    vi.useFakeTimers();
    lines = [];
    sent = [];
    seen = [];
    reachable = () => Promise.resolve(true);
  });
  afterEach(() => void vi.useRealTimers());

  it("sends only while it is open", () => {
    const connection = open();
    expect(connection.send("a")).toBe(false);
    lines[0]?.open();
    expect(connection.send("b")).toBe(true);
    expect(sent).toEqual(["b"]);
  });

  it("comes back at once after a loss and starts over", async () => {
    open();
    lines[0]?.open();
    lines[0]?.closed(false);
    await vi.advanceTimersByTimeAsync(0);
    lines[1]?.open();
    expect(seen).toEqual(["open", "opened", "lost", "open", "opened"]);
  });

  it("waits longer each time while the server is away, without end", async () => {
    open();
    lines[0]?.open();
    reachable = () => Promise.reject(new Error("refused"));
    lines[0]?.closed(false);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(lines).toHaveLength(1);
    reachable = () => Promise.resolve(true);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(lines).toHaveLength(2);
  });

  it("ends when the session is gone", async () => {
    const connection = open();
    lines[0]?.open();
    reachable = () => Promise.resolve(false);
    lines[0]?.closed(false);
    await vi.advanceTimersByTimeAsync(0);
    expect(connection.status).toBe("ended");
    await vi.advanceTimersByTimeAsync(100_000);
    expect(lines).toHaveLength(1);
  });

  it("does not listen to a line it has replaced", async () => {
    const connection = open();
    lines[0]?.open();
    lines[0]?.closed(false);
    await vi.advanceTimersByTimeAsync(0);
    lines[1]?.open();
    lines[0]?.closed(false);
    expect(connection.status).toBe("open");
  });
});
