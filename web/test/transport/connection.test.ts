import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { connect, type Connection, type Status } from "../../src/transport/connection";
import type { Listener } from "../../src/transport/transport";

const STABLE_MS = 3000;

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
      { opened: () => void seen.push("opened"), frame: (text) => void seen.push(text), status: (status: Status, reason) => void seen.push(`${status} ${reason}`.trim()) },
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

  it("comes back at once after the loss of a connection that was stable, and starts over", async () => {
    open();
    lines[0]?.open();
    await vi.advanceTimersByTimeAsync(STABLE_MS);
    lines[0]?.closed(false);
    await vi.advanceTimersByTimeAsync(0);
    lines[1]?.open();
    expect(seen).toEqual(["open", "opened", "lost", "open", "opened"]);
  });

  it("backs off from a server that accepts and hangs up at once", async () => {
    open();
    for (let elapsed = 0; elapsed < 60_000; elapsed += 100) {
      const line = lines.at(-1);
      line?.open();
      line?.closed(false);
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(lines.length).toBeLessThan(8);
  });

  it("ends for good when the server says that the session is over, and hands on why", async () => {
    const connection = open();
    lines[0]?.open();
    lines[0]?.closed(true, "it crashed");
    await vi.advanceTimersByTimeAsync(100_000);
    expect(connection.status).toBe("ended");
    expect(seen.at(-1)).toBe("ended it crashed");
    expect(lines).toHaveLength(1);
  });

  it("waits longer each time while the server is away, without end", async () => {
    open();
    lines[0]?.open();
    await vi.advanceTimersByTimeAsync(STABLE_MS);
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
    await vi.advanceTimersByTimeAsync(STABLE_MS);
    reachable = () => Promise.resolve(false);
    lines[0]?.closed(false);
    await vi.advanceTimersByTimeAsync(0);
    expect(connection.status).toBe("ended");
    await vi.advanceTimersByTimeAsync(100_000);
    expect(lines).toHaveLength(1);
  });

  it("ignores a transport that it has replaced", async () => {
    const connection = open();
    lines[0]?.open();
    await vi.advanceTimersByTimeAsync(STABLE_MS);
    lines[0]?.closed(false);
    await vi.advanceTimersByTimeAsync(0);
    lines[1]?.open();
    lines[0]?.closed(false);
    expect(connection.status).toBe("open");
  });

  it("tries again at once when asked, when the network is back, or when the tab is shown", async () => {
    for (const wake of [(connection: Connection) => connection.retry(), () => window.dispatchEvent(new Event("online")), () => document.dispatchEvent(new Event("visibilitychange"))]) {
      const connection = open();
      const before = lines.length;
      lines.at(-1)?.open();
      lines.at(-1)?.closed(false);
      wake(connection);
      await vi.advanceTimersByTimeAsync(0);
      expect(lines.length).toBeGreaterThan(before);
      connection.end();
    }
  });

  it("sends nothing after it was ended here", () => {
    const connection = open();
    lines[0]?.open();
    connection.end();
    expect([connection.send("a"), connection.status, sent]).toEqual([false, "ended", []]);
  });
});
