import { expect, test } from "vitest";
import { isInlineView, isWindow, parts } from "../src/protocol";

test("a frame is one message, one short update, or an array of both", () => {
  expect(parts("[3,1,null]")).toEqual([[3, 1, null]]);
  expect(parts('[[3,1,2],{"type":"destroy","data":{"varId":2}}]')).toHaveLength(2);
  expect(parts('{"type":"destroy","data":{"varId":2}}')).toHaveLength(1);
});

test("a view inside a value is told from a list, and a window from an object", () => {
  expect([[5, "A.DEFAULT", []], [5, 0], [[5, "A"]], 5, null, undefined].map((value) => isInlineView(value))).toEqual([true, true, false, false, false, false]);
  expect([{ length: 1, from: 0, rows: [] }, { a: 1 }, [], null].map((value) => isWindow(value))).toEqual([true, false, false, false]);
});
