import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openTabGuard } from "../../src/conserve/tab_guard";

let posted: unknown[];
let hear: (data: unknown) => void;
let fail: () => void;

class Worker {
  readonly port: { start(): void; postMessage(message: unknown): void; addEventListener(type: string, act: (event: { data: unknown }) => void): void };
  constructor() {
    const listeners: ((event: { data: unknown }) => void)[] = [];
    hear = (data) => listeners.forEach((act) => act({ data }));
    this.port = { start: () => undefined, postMessage: (message) => void posted.push(message), addEventListener: (_, act) => void listeners.push(act) };
  }
  addEventListener(_: string, act: () => void): void {
    fail = act;
  }
}

beforeEach(() => {
  posted = [];
  vi.stubGlobal("SharedWorker", Worker);
  vi.useFakeTimers();
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test("the worker decides whether the session is open elsewhere", async () => {
  const guard = openTabGuard("1");
  const elsewhere = guard.elsewhere();
  hear("call");
  hear({ elsewhere: true });
  expect([await elsewhere, posted]).toEqual([true, ["ask"]]);
});

test("a worker that fails or stays silent keeps no page from starting", async () => {
  const failing = openTabGuard("1").elsewhere();
  fail();
  expect(await failing).toBe(false);
  const silent = openTabGuard("1").elsewhere();
  await vi.advanceTimersByTimeAsync(5000);
  expect(await silent).toBe(false);
});

test("a registered page answers pings, hears of refused ones, and says when it goes and comes back", () => {
  let refused = 0;
  const guard = openTabGuard("1");
  guard.register();
  guard.onDuplicate(() => (refused += 1));
  hear("call");
  hear("duplicate");
  guard.announceDuplicate();
  window.dispatchEvent(new Event("pagehide"));
  window.dispatchEvent(new Event("pageshow"));
  expect([refused, posted.slice(0, 3), posted.slice(3).sort()]).toEqual([1, ["register", "here", "duplicate"], expect.arrayContaining(["bye", "register"])]);
});

test("without SharedWorker every page may start", async () => {
  vi.stubGlobal("SharedWorker", undefined);
  const guard = openTabGuard("1");
  guard.register();
  guard.announceDuplicate();
  guard.onDuplicate(() => undefined);
  expect(await guard.elsewhere()).toBe(false);
});
