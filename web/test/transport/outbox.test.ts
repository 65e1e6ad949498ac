import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Outbox } from "../../src/transport/outbox";

const origin = { element: document.body, attribute: "ui-action", priority: 1 };
let frames: unknown[];
let reachable: boolean;
let outbox: Outbox;

beforeEach(() => {
  vi.useFakeTimers();
  frames = [];
  reachable = true;
  outbox = new Outbox((frame) => reachable && frames.push(JSON.parse(frame)) > 0);
  outbox.resume(() => null);
});

afterEach(() => void vi.useRealTimers());

describe("a user event", () => {
  test("leaves at once, alone as its short form", async () => {
    outbox.sendNow([3, 1], origin);
    await Promise.resolve();
    expect(frames).toEqual([[3, 1]]);
  });

  test("travels with the others of the same task, by priority", async () => {
    outbox.sendNow([3, 1], { ...origin, priority: 2 });
    outbox.sendNow([3, 2, "x"], { ...origin, priority: 0 });
    await Promise.resolve();
    expect(frames).toEqual([{ userEvent: true, messages: [[3, 2, "x"], [3, 1]] }]);
  });

  test("takes messages of scripts along that were waiting", async () => {
    outbox.sendSoon({ type: "destroy", data: { varId: 2 } });
    outbox.sendNow([3, 1], origin);
    await Promise.resolve();
    expect(frames).toEqual([{ userEvent: true, messages: [{ type: "destroy", data: { varId: 2 } }, [3, 1]] }]);
    await vi.advanceTimersByTimeAsync(50);
    expect(frames).toHaveLength(1);
  });
});

test("messages of scripts wait a moment for others and leave in one frame", async () => {
  outbox.sendSoon({ type: "destroy", data: { varId: 2 } });
  outbox.sendSoon({ type: "destroy", data: { varId: 3 } });
  expect(frames).toEqual([]);
  await vi.advanceTimersByTimeAsync(10);
  expect(frames).toEqual([{ userEvent: false, messages: [{ type: "destroy", data: { varId: 2 } }, { type: "destroy", data: { varId: 3 } }] }]);
});

describe("while the server is away", () => {
  test("user events wait and are sent under their new address", async () => {
    outbox.pause();
    outbox.sendNow([3, 1], origin);
    outbox.sendNow([3, 2], origin);
    await Promise.resolve();
    expect(frames).toEqual([]);
    outbox.resume((_, [, position]) => (position === 1 ? [9, 1] : null));
    expect(frames).toEqual([[9, 1]]);
  });

  test("messages of scripts are dropped, since their ids mean nothing on the next connection", async () => {
    outbox.sendSoon({ type: "destroy", data: { varId: 2 } });
    outbox.pause();
    outbox.resume(() => null);
    await vi.advanceTimersByTimeAsync(50);
    expect(frames).toEqual([]);
  });

  test("a frame that could not be delivered stays first in the queue", async () => {
    reachable = false;
    outbox.sendNow([3, 1], origin);
    await Promise.resolve();
    reachable = true;
    outbox.sendNow([3, 2], origin);
    await Promise.resolve();
    expect(frames).toEqual([{ userEvent: true, messages: [[3, 1], [3, 2]] }]);
  });

  test("the request for the page is sent all the same", () => {
    outbox.pause();
    outbox.sendFirst({ type: "watch", data: { varId: 1 } });
    expect(frames).toEqual([{ userEvent: false, messages: [{ type: "watch", data: { varId: 1 } }] }]);
  });
});
