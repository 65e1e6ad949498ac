import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { socketUpgrade } from "../../src/embed/upgrade";
import type { Listener } from "../../src/transport/transport";
import { SESSION_ENDED } from "../../src/wire.gen";
import { FakeSocket } from "../transport/fake_socket";

const OFFER = { url: "ws://127.0.0.1:8000/ws/1", token: "a b" };
let seen: string[];
const listener: Listener = { open: () => void seen.push("open"), frame: (text) => void seen.push(text), closed: (ended, reason) => void seen.push(`${String(ended)} ${reason ?? ""}`) };

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

test("a socket that opens becomes the transport", async () => {
  const upgrade = socketUpgrade(["ws://127.0.0.1:8000"])(OFFER, listener);
  const [socket] = FakeSocket.opened;
  socket?.open();
  const transport = await upgrade;
  transport?.send("up");
  socket?.onmessage?.({ data: "down" });
  socket?.onclose?.({ code: SESSION_ENDED, reason: "over" });
  transport?.close();
  expect([socket?.url, socket?.sent, seen, socket?.closed]).toEqual(["ws://127.0.0.1:8000/ws/1?token=a%20b", ["up"], ["open", "down", "true over"], true]);
});

test("a domain that the host does not allow is not tried", async () => {
  expect(await socketUpgrade(["wss://elsewhere.example"])(OFFER, listener)).toBeNull();
  expect(FakeSocket.opened).toEqual([]);
});

test("an error, or silence, means that polling goes on", async () => {
  const failing = socketUpgrade(["ws://127.0.0.1:8000"])(OFFER, listener);
  FakeSocket.opened[0]?.onerror?.();
  expect(await failing).toBeNull();
  const silent = socketUpgrade(["ws://127.0.0.1:8000"])(OFFER, listener);
  await vi.advanceTimersByTimeAsync(300);
  expect([await silent, FakeSocket.opened[1]?.closed]).toEqual([null, true]);
});
