import { beforeEach, describe, expect, test } from "vitest";
import { endText, type Item, textOf, Timeline, usageText } from "../../src/nlui/state";

const item = (id: string, more: Partial<Item> = {}): Item => ({ id, kind: "user_message", text: id, ...more });
let timeline: Timeline;

beforeEach(() => {
  timeline = new Timeline();
  timeline.reset([item("a")], 4);
});

describe("a timeline", () => {
  test("applies numbered changes in order", () => {
    expect(timeline.apply(5, [{ op: "append", item: item("b") }, { op: "update", id: "a", set: { text: "A" } }, { op: "update", id: "unknown", set: {} }])).toBe(true);
    expect([timeline.shown().map(({ text }) => text), timeline.seq]).toEqual([["A", "b"], 5]);
  });

  test("refuses a change when one before it is missing", () => {
    expect(timeline.apply(6, [{ op: "append", item: item("b") }])).toBe(false);
    expect([timeline.shown().length, timeline.seq]).toEqual([1, 4]);
  });

  test("hides superseded items and ordinary ends of turns", () => {
    timeline.reset([item("a", { superseded: true }), item("b", { kind: "end_turn", reason: "done" }), item("c", { kind: "end_turn", reason: "limit" })], 1);
    expect(timeline.shown().map(endText)).toEqual(["The turn reached its limit."]);
  });
});

test("a call is one box: its question while it waits, the call afterwards", () => {
  const call = item("t", { kind: "tool", approval_id: "x", status: "pending" });
  const asked = item("p", { kind: "approval", approval_id: "x", status: "pending" });
  timeline.reset([call, asked, item("alone", { kind: "approval", approval_id: "y", status: "expired" })], 1);
  expect(timeline.shown().map(({ id }) => id)).toEqual(["p", "alone"]);
  timeline.apply(2, [{ op: "update", id: "p", set: { status: "approved" } }, { op: "update", id: "t", set: { status: "done" } }]);
  expect(timeline.shown().map(({ id }) => id)).toEqual(["t", "alone"]);
});

test("everything that is said of an item can be searched", () => {
  const text = textOf(item("a", { text: "hello", name: "shop__list", args: { limit: 5 }, content: { result: [{ id: 7 }], is_error: false } }));
  expect(["hello", "shop__list", '"limit":5', '"id":7'].every((part) => text.includes(part))).toBe(true);
});

test("tokens are shown once per turn, with its last answer, and reasoning with each", () => {
  const asked = (id: string): Item => item(id, { kind: "user_message" });
  const sampled = (id: string, more: Partial<Item>): Item => ({ id, kind: "sampling", ...more });
  timeline.reset(
    [
      asked("u1"),
      sampled("s1", { reasoning: "first", usage: { input_tokens: 10, output_tokens: 1, cost: 0.5, currency: "EUR" } }),
      sampled("s2", { usage: { input_tokens: 20, output_tokens: 2, cost: 0.25, currency: "EUR" } }),
      asked("u2"),
      sampled("s3", { usage: { input_tokens: 5, output_tokens: 5 } }),
      sampled("s4", { usage: { input_tokens: 5, output_tokens: 5 } }),
    ],
    1,
  );
  const shown = timeline.shown();
  expect(shown.map(({ id, usage }) => [id, usage?.input_tokens, usage?.cost])).toEqual([
    ["u1", undefined, undefined],
    ["s1", undefined, undefined],
    ["s2", 30, 0.75],
    ["u2", undefined, undefined],
    ["s4", 10, undefined],
  ]);
  timeline.apply(2, [{ op: "append", item: asked("u3") }]);
  expect(timeline.shown()[2]).toBe(shown[2]);
});

test("a price is told where it is known, and as a lower bound where a part is not", () => {
  const usage = { input_tokens: 1200, output_tokens: 300, cached_tokens: 1000 };
  expect(usageText(usage)).toBe("1,200 tokens in (1,000 cached), 300 out");
  expect(usageText({ ...usage, cost: 0.0123, currency: "USD" })).toBe("1,200 tokens in (1,000 cached), 300 out · $0.0123");
  expect(usageText({ ...usage, cost: 2, currency: "credits", unpriced: 5 })).toBe("1,200 tokens in (1,000 cached), 300 out · at least 2.00 credits");
});

test("a message knows its versions, and is the same object until they change", () => {
  const timeline = new Timeline();
  const said = (id: string, more: Partial<Item> = {}): Item => ({ id, kind: "user_message", text: id, ...more });
  timeline.reset([said("u:a", { superseded: true }), said("u:b", { superseded: true, version_of: "u:a" }), said("u:c", { version_of: "u:a" }), said("u:d")], 1);
  const [first, other] = timeline.shown();
  expect([first?.versions, other?.versions]).toEqual([["u:a", "u:b", "u:c"], undefined]);
  timeline.apply(2, [{ op: "append", item: said("u:e") }]);
  expect(timeline.shown()[0]).toBe(first);
  timeline.apply(3, [{ op: "append", item: said("u:f", { version_of: "u:a" }) }]);
  expect(timeline.shown()[0]?.versions).toHaveLength(4);
});
