import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { follow } from "../../src/nlui/follow";
import { FakeSocket } from "../transport/fake_socket";

let seen: unknown[];

beforeEach(() => {
  seen = [];
  FakeSocket.opened = [];
  vi.stubGlobal("WebSocket", FakeSocket);
  vi.useFakeTimers();
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const start = (token = ""): (() => void) => follow({ id: "c1", token: () => token, seen: () => 7, frame: (frame) => void seen.push(frame), connected: (yes) => void seen.push(yes) });

test("it introduces itself with what it has seen, and its credential if there is one", () => {
  start("secret");
  FakeSocket.opened[0]?.open();
  expect(FakeSocket.opened[0]?.sent.map((frame) => JSON.parse(frame) as unknown)).toEqual([{ type: "hello", conversation: "c1", state_id: "c1", last_seq: 7, token: "secret" }]);
});

test("it comes back after a break, later each time until it succeeds", async () => {
  start();
  FakeSocket.opened[0]?.onclose?.({ code: 1006, reason: "" });
  await vi.advanceTimersByTimeAsync(300);
  FakeSocket.opened[1]?.onclose?.({ code: 1006, reason: "" });
  await vi.advanceTimersByTimeAsync(599);
  expect(FakeSocket.opened).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(1);
  FakeSocket.opened[2]?.open();
  FakeSocket.opened[2]?.onmessage?.({ data: '{"type":"heartbeat"}' });
  expect(seen).toEqual([false, false, true, { type: "heartbeat" }]);
});

test("after the end nothing is heard and nothing opened", async () => {
  const stop = start();
  stop();
  FakeSocket.opened[0]?.onmessage?.({ data: "{}" });
  FakeSocket.opened[0]?.onclose?.({ code: 1000, reason: "" });
  await vi.advanceTimersByTimeAsync(10_000);
  expect([seen, FakeSocket.opened.length]).toEqual([[], 1]);
});
