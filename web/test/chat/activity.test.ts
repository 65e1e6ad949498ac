import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type ActivityByMessage, type AgentNow, followActivity } from "../../src/chat/activity";
import type { Item } from "../../src/nlui/state";
import { FakeSocket } from "../transport/fake_socket";

let activity: ActivityByMessage;
let reviewed: string[];
const texts = (): [string, string[]][] => [...activity].map(([after, rows]) => [after, rows.map((row) => row.getAttribute("aria-label") ?? "")]);
const say = (frame: unknown): void => FakeSocket.opened.at(-1)?.onmessage?.({ data: JSON.stringify(frame) });
const items: Item[] = [
  { id: "i1", kind: "notice", text: "before" },
  { id: "i2", kind: "user_message", message_id: "7~0", text: "hi" },
  { id: "i3", kind: "tool", name: "shop__list", status: "running" },
  { id: "i4", kind: "approval", tool: "shop__ship", status: "pending", approval_id: "a1" },
];

beforeEach(() => {
  activity = new Map();
  reviewed = [];
  FakeSocket.opened = [];
  vi.stubGlobal("WebSocket", FakeSocket);
});

afterEach(() => void vi.unstubAllGlobals());

function follow(): () => void {
  const stop = followActivity({ conversation: "default", credential: () => "c", review: (item) => void reviewed.push(item.approval_id ?? "") }, (next) => (activity = next));
  say({ type: "ui_state_snapshot", seq: 4, run: "running", state: { items } });
  return stop;
}

test("what is no message is grouped by the message before it", () => {
  follow();
  expect(texts()).toEqual([["", ["Notice"]], ["7", ["Tool List, running…", "Approval of Ship"]]]);
});

test("an item that did not change keeps its element", () => {
  follow();
  const [tool, question] = activity.get("7") ?? [];
  say({ type: "ui_state_delta", seq: 5, ops: [{ op: "update", id: "i3", set: { status: "done" } }] });
  expect([activity.get("7")?.[0] === tool, activity.get("7")?.[1] === question, texts()[1]?.[1][0]]).toEqual([false, true, "Tool List, done"]);
});

test("what the agent is writing and why it waits come with the activity", () => {
  const seen: AgentNow[] = [];
  followActivity({ conversation: "default", credential: () => "c", review: null }, (_, now) => void seen.push(now));
  say({ type: "ui_state_snapshot", seq: 4, run: "running", state: { items } });
  say({ type: "retrying", reason: "The model is busy", seconds: 3.6, attempt: 2, attempts: 6 });
  say({ type: "answering", text: "Hel" });
  say({ type: "run_status", run: "sleeping" });
  expect(seen.slice(1)).toEqual([
    { run: "running", writing: "", waiting: "The model is busy. Trying again in 4 s, 2 of 6" },
    { run: "running", writing: "Hel", waiting: "" },
    { run: "sleeping", writing: "Hel", waiting: "" },
  ]);
});

test("a waiting call leads to where it is answered", () => {
  follow();
  activity.get("7")?.[1]?.querySelector("button")?.click();
  expect(reviewed).toEqual(["a1"]);
});

test("a missing change makes it connect anew for a snapshot", () => {
  const stop = follow();
  say({ type: "heartbeat" });
  say({ type: "ui_state_delta", seq: 9, ops: [] });
  expect(FakeSocket.opened).toHaveLength(2);
  FakeSocket.opened[1]?.open();
  expect(JSON.parse(FakeSocket.opened[1]?.sent[0] ?? "{}")).toMatchObject({ last_seq: 0 });
  stop();
  expect(FakeSocket.opened[1]?.closed).toBe(true);
});
