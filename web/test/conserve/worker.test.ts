import { afterEach, beforeEach, expect, test, vi } from "vitest";

interface Page {
  readonly received: unknown[];
  send(message: unknown): void;
}

let connect: () => Page;

beforeEach(async () => {
  vi.useFakeTimers();
  vi.resetModules();
  await import("../../src/conserve/worker");
  const { onconnect } = self as unknown as { onconnect: (event: { ports: unknown[] }) => void };
  connect = () => {
    const received: unknown[] = [];
    const port: { onmessage?: (event: { data: unknown }) => void; [other: string]: unknown } = { postMessage: (message: unknown) => void received.push(message), start: () => undefined };
    onconnect({ ports: [port] });
    return { received, send: (data) => port.onmessage?.({ data }) };
  };
});

afterEach(() => void vi.useRealTimers());

function registered(): Page {
  const page = connect();
  page.send("register");
  return page;
}

test("the first page learns that it is alone", () => {
  const first = connect();
  first.send("ask");
  expect(first.received).toEqual([{ elsewhere: false }]);
});

test("a second page learns of the first as soon as that answers", () => {
  const first = registered();
  const second = connect();
  second.send("ask");
  expect([first.received, second.received]).toEqual([["call"], []]);
  first.send("here");
  expect(second.received).toEqual([{ elsewhere: true }]);
  vi.advanceTimersByTime(10_000);
  expect(second.received).toHaveLength(1);
});

test("a page that crashed is forgotten after a while", () => {
  registered();
  const second = connect();
  second.send("ask");
  vi.advanceTimersByTime(3000);
  second.send("ask");
  expect(second.received).toEqual([{ elsewhere: false }, { elsewhere: false }]);
});

test("a page that was closed or never registered does not count", () => {
  registered().send("bye");
  connect();
  const third = connect();
  third.send("ask");
  expect(third.received).toEqual([{ elsewhere: false }]);
});

test("open pages hear of one that was refused", () => {
  const first = registered();
  const second = connect();
  second.send("duplicate");
  expect([first.received, second.received]).toEqual([["duplicate"], []]);
});
