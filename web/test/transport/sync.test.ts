import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Json } from "../../src/protocol";
import { polling, type SyncAnswer } from "../../src/transport/sync";
import type { Listener, Transport } from "../../src/transport/transport";

interface Call {
  readonly args: Record<string, Json>;
  readonly answer: (answer: Partial<SyncAnswer>) => Promise<void>;
  readonly fail: () => Promise<void>;
}

let calls: Call[];
let seen: string[];
const listener: Listener = {
  open: () => void seen.push("open"),
  frame: (text) => void seen.push(text),
  closed: (ended) => void seen.push(ended ? "ended" : "closed"),
};

const settled = (): Promise<void> => vi.advanceTimersByTimeAsync(0).then(() => undefined);

const sync = (args: Record<string, Json>): Promise<SyncAnswer> =>
  new Promise((resolve, reject) => {
    calls.push({
      args,
      answer: (answer) => {
        resolve({ conn: "c", seq: 0, frames: [], ...answer });
        return settled();
      },
      fail: () => {
        reject(new Error("no"));
        return settled();
      },
    });
  });

async function dial(upgrade: Transport | null = null, first: Partial<SyncAnswer> = {}): Promise<Transport> {
  const transport = polling(sync, "1", () => Promise.resolve(upgrade))(listener);
  await call(0).answer(first);
  return transport;
}

function call(index: number): Call {
  const found = calls.at(index);
  if (found === undefined) throw new Error(`no call ${index}`);
  return found;
}

beforeEach(() => {
  vi.useFakeTimers();
  calls = [];
  seen = [];
});

afterEach(() => void vi.useRealTimers());

describe("polling", () => {
  test("opens with a first call, then waits in the next one", async () => {
    await dial();
    expect([seen, calls.map(({ args }) => args)]).toEqual([["open"], [{ session: "1", wait_ms: 0 }, { session: "1", conn: "c", after: 0, frames: [] }]]);
  });

  test("delivers frames in order, objects as text, and asks for those after them", async () => {
    await dial();
    await call(1).answer({ seq: 2, frames: ["[1,0,2]", { type: "destroy" }] });
    expect(seen).toEqual(["open", "[1,0,2]", '{"type":"destroy"}']);
    expect(call(2).args["after"]).toBe(2);
  });

  test("sends at once, with everything that no finished call has carried", async () => {
    const transport = await dial();
    transport.send("a");
    transport.send("b");
    expect(call(3).args["frames"]).toEqual([{ n: 1, frame: "a" }, { n: 2, frame: "b" }]);
    await call(3).answer({});
    transport.send("c");
    expect(call(-1).args["frames"]).toEqual([{ n: 3, frame: "c" }]);
  });

  test("does not deliver a frame twice when two calls bring it", async () => {
    const transport = await dial();
    transport.send("a");
    await call(1).answer({ seq: 1, frames: ["x"] });
    await call(2).answer({ seq: 2, frames: ["x", "y"] });
    expect(seen).toEqual(["open", "x", "y"]);
  });

  test("survives two failures in a row and gives up after the third", async () => {
    await dial();
    await call(-1).fail();
    await vi.advanceTimersByTimeAsync(1000);
    await call(-1).fail();
    await vi.advanceTimersByTimeAsync(1000);
    expect(seen).toEqual(["open"]);
    await call(-1).fail();
    expect(seen).toEqual(["open", "closed"]);
    await vi.advanceTimersByTimeAsync(5000);
    expect(calls).toHaveLength(4);
  });

  test("ends when the server says so", async () => {
    await dial();
    await call(1).answer({ ended: true });
    expect(seen).toEqual(["open", "ended"]);
  });

  test("is closed when its first call fails, and ended when there is no session", async () => {
    polling(sync, "1", () => Promise.resolve(null))(listener);
    await call(0).fail();
    polling(sync, "1", () => Promise.resolve(null))(listener);
    await call(1).answer({ ended: true });
    expect(seen).toEqual(["closed", "ended"]);
  });

  test("stops when it is closed here", async () => {
    const transport = await dial();
    transport.close();
    await call(1).answer({ seq: 1, frames: ["late"] });
    await vi.advanceTimersByTimeAsync(5000);
    expect([seen, calls.length]).toEqual([["open"], 2]);
  });
});

describe("an upgrade", () => {
  const socket = (): Transport & { readonly sent: string[] } => {
    const sent: string[] = [];
    return { sent, send: (frame) => void sent.push(frame), close: () => void sent.push("closed") };
  };

  test("replaces polling before the first frame", async () => {
    const better = socket();
    const transport = await dial(better, { ws: { url: "ws://127.0.0.1/ws/1", token: "t" } });
    transport.send("a");
    transport.close();
    expect([better.sent, calls.length, seen]).toEqual([["a", "closed"], 1, []]);
  });

  test("is not tried where the server offers none", async () => {
    const better = socket();
    const transport = await dial(better);
    transport.send("a");
    expect([better.sent, seen]).toEqual([[], ["open"]]);
  });
});
