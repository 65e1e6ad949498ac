import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { webSocket } from "../../src/transport/socket";
import type { Listener } from "../../src/transport/transport";
import { SESSION_ENDED } from "../../src/wire.gen";
import { FakeSocket } from "./fake_socket";

const URL = "ws://host/ws/1?page=p";
const EARLY = `${URL}&watch=%2F`;
let seen: string[];
const listener: Listener = {
  open: (requested) => void seen.push(requested ? "open, requested" : "open"),
  frame: (text) => void seen.push(text),
  closed: (ended, reason) => void seen.push(`closed ${ended ? "for good" : "for now"} ${reason ?? ""}`.trim()),
};

beforeEach(() => {
  seen = [];
  FakeSocket.opened = [];
  vi.stubGlobal("WebSocket", FakeSocket);
});

afterEach(() => {
  window.uiEarly = undefined;
  vi.unstubAllGlobals();
});

function early(url: string): FakeSocket {
  const socket = new FakeSocket(url);
  window.uiEarly = { ws: socket as unknown as WebSocket, frames: [] };
  FakeSocket.opened = [];
  return socket;
}

test("frames go both ways, and a lost connection is no end", () => {
  const transport = webSocket(URL)(listener);
  const [socket] = FakeSocket.opened;
  socket?.open();
  transport.send("up");
  socket?.onmessage?.({ data: "down" });
  socket?.onclose?.({ code: 1006, reason: "" });
  expect([seen, socket?.sent]).toEqual([["open", "down", "closed for now"], ["up"]]);
});

test("the close code of an ended session ends it, with its reason", () => {
  webSocket(URL)(listener);
  FakeSocket.opened[0]?.onclose?.({ code: SESSION_ENDED, reason: "it crashed" });
  expect(seen).toEqual(["closed for good it crashed"]);
});

test("a transport that was closed here says nothing more", () => {
  const transport = webSocket(URL)(listener);
  const [socket] = FakeSocket.opened;
  transport.close();
  socket?.onmessage?.({ data: "late" });
  socket?.onclose?.({ code: 1000, reason: "" });
  expect([seen, socket?.closed]).toEqual([[], true]);
});

test("the socket that the page opened early is adopted with its frames, and only once", async () => {
  const socket = early(EARLY);
  socket.readyState = FakeSocket.OPEN;
  window.uiEarly?.frames.push("first", "second");
  webSocket(URL)(listener);
  await Promise.resolve();
  expect([seen, FakeSocket.opened]).toEqual([["open, requested", "first", "second"], []]);
  webSocket(URL)(listener);
  expect(FakeSocket.opened).toHaveLength(1);
});

test("an early socket that is not open yet has asked for the page by its address", () => {
  const socket = early(EARLY);
  webSocket(URL)(listener);
  socket.open();
  expect([seen, socket.sent]).toEqual([["open, requested"], []]);
});

test.each([
  ["belongs to another session", (): unknown => early(EARLY.replace("/1?", "/2?"))],
  ["has not asked for the page", (): unknown => early(URL)],
  ["is closed already", (): unknown => Object.assign(early(EARLY), { readyState: 3 })],
])("an early socket that %s is not used", (_, prepare) => {
  prepare();
  webSocket(URL)(listener);
  expect(FakeSocket.opened).toHaveLength(1);
});
