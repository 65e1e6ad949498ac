import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type StreamListener, server } from "../../src/chat/server";
import { RequestError } from "../../src/person/client";

interface Asked {
  readonly path: string;
  readonly body: unknown;
}

let asked: Asked[];
let seen: unknown[];
const listener: StreamListener = {
  message: (message) => void seen.push(message),
  receipts: (receipts) => void seen.push(receipts),
  problem: (why, status) => void seen.push(why === null ? "connected" : `${why} (${status})`),
};

/** Answers requests in turn: text as an event stream, objects as JSON, errors as failures. After the last one nothing comes. */
function api(...answers: readonly (string | object | Error)[]): ReturnType<typeof server> {
  const waiting = [...answers];
  return server("default", (path, options) => {
    asked.push({ path, body: typeof options?.body === "string" ? JSON.parse(options.body) : null });
    const answer = waiting.shift();
    if (answer === undefined) return new Promise(() => undefined);
    if (answer instanceof Error) return Promise.reject(answer);
    return Promise.resolve(new Response(typeof answer === "string" ? answer : JSON.stringify(answer)));
  });
}

beforeEach(() => {
  asked = [];
  seen = [];
});

afterEach(() => void vi.useRealTimers());

test("a message is posted to its conversation", async () => {
  expect(await api({ id: "1", ts: "t" }).post("hello", "c1")).toEqual({ id: "1", ts: "t" });
  expect(asked).toEqual([{ path: "/chat/messages", body: { content: "hello", client_id: "c1", conversation: "default" } }]);
});

test("earlier messages are read from the end", async () => {
  await api({ messages: [], has_earlier: false }).earlier(null);
  await api({ messages: [], has_earlier: false }).earlier("7");
  expect(asked.map(({ path }) => path)).toEqual(["/chat/messages?before=9999999999999999999&limit=50&conversation=default", "/chat/messages?before=7&limit=50&conversation=default"]);
});

test("the stream brings messages and receipts, and when it ends a poll brings what was missed", async () => {
  const stream = 'event: message\ndata: {"id":"1"}\n\n: keep-alive\n\nevent: receipts\ndata: {"read":"1"}\n\n';
  const stop = api(stream, { messages: [{ id: "2" }] }).follow(() => "0", listener);
  await vi.waitFor(() => expect(seen).toEqual(["connected", { id: "1" }, { read: "1" }, { id: "2" }, "connected"]));
  stop();
  expect(asked.map(({ path }) => path)).toEqual(["/chat/stream?after=0&conversation=default", "/chat/messages?after=0&conversation=default"]);
});

test("a problem is reported with its status, and following goes on with back-off", async () => {
  vi.useFakeTimers();
  const refused = new RequestError(401, "unauthorized", "Who are you?");
  const stop = api(refused, refused, new TypeError("failed"), new TypeError("failed")).follow(() => "", listener);
  await vi.advanceTimersByTimeAsync(240);
  expect(seen).toEqual(["Who are you? (401)"]);
  await vi.advanceTimersByTimeAsync(20);
  expect(seen).toEqual(["Who are you? (401)", "The server cannot be reached. (0)"]);
  await vi.advanceTimersByTimeAsync(480);
  expect(asked).toHaveLength(4);
  await vi.advanceTimersByTimeAsync(30);
  expect(asked).toHaveLength(5);
  stop();
});

test("after a stop nothing is asked any more", async () => {
  vi.useFakeTimers();
  const stop = api(new TypeError("failed"), new TypeError("failed")).follow(() => "", listener);
  await vi.advanceTimersByTimeAsync(10);
  stop();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toHaveLength(2);
});
