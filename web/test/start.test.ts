import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { start } from "../src/start";
import type { Listener } from "../src/transport/transport";
import { NOTICE_ENDED, NOTICE_LOADED } from "../src/wire.gen";
import { element } from "./view/open_app";

let server: Listener;
let sent: string[];

beforeEach(() => {
  vi.useFakeTimers();
  document.body.innerHTML = '<div class="app-container"><div ui-app></div></div>';
  sent = [];
  start({
    root: element("[ui-app]"),
    dial: (listener) => {
      server = listener;
      return { send: (frame) => void sent.push(frame), close: () => undefined };
    },
    probe: () => Promise.resolve(true),
    define: () => undefined,
  });
  server.open();
});

afterEach(() => void vi.useRealTimers());

const notice = (level: string, text: string, code = ""): void =>
  server.frame(JSON.stringify({ type: "update", data: { varId: 1, properties: { notice: JSON.stringify({ level, text, code }) } } }));

test("frames of the server are shown, and notices appear and are taken back", () => {
  server.frame(JSON.stringify([{ type: "update", data: { varId: 1, properties: { viewdefs: '{"A.DEFAULT":"<template><p>hello</p></template>"}' } } }, { type: "view", data: { view: 1, parent: 0, slot: 0, key: "A.DEFAULT" } }]));
  notice("error", "a.lua does not load");
  expect([element("[ui-app]").textContent, element(".ui-notice-text").textContent]).toEqual(["hello", "a.lua does not load"]);
  notice("info", "a.lua does not load", NOTICE_LOADED);
  expect(document.querySelector(".ui-notice-text")).toBeNull();
});

test("the end of the session is shown once, with the reason if it was an error", () => {
  notice("error", "It crashed.", NOTICE_ENDED);
  server.closed(true, "other");
  expect(element(".app-container").textContent).toContain("It crashed.");
  expect(document.querySelectorAll("h1")).toHaveLength(1);
});

test("a lost connection is shown on the page", () => {
  server.closed(false);
  vi.advanceTimersByTime(600);
  expect(element(".ui-banner").textContent).toContain("The server cannot be reached");
});

test("a query of the server that only asks for a sign of life is answered", async () => {
  server.frame('{"type":"look","data":{"id":5,"prefix":"a","request":""}}');
  await vi.advanceTimersByTimeAsync(0);
  expect(sent.map((frame) => JSON.parse(frame) as unknown).at(-1)).toEqual({ type: "looked", data: { id: 5, answer: "{}" } });
});
