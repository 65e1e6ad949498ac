import { expect, test } from "vitest";
import { contentHeight, rowsInView, rowTop, scrollFor } from "../../../src/elements/table/scroll";

const view = { scrollTop: 0, height: 380, rowHeight: 38, length: 100 };

test("a list that fits is drawn row by row", () => {
  expect(rowsInView({ ...view, scrollTop: 380 }, 2)).toEqual({ first: 8, last: 22 });
  expect(rowTop({ ...view, scrollTop: 380 }, 10)).toBe(380);
  expect(scrollFor(view, 3)).toBe(0);
  expect(scrollFor(view, 20)).toBe(21 * 38 - 380);
});

test("of a million rows both ends can be reached", () => {
  const large = { ...view, length: 1_000_000 };
  const end = contentHeight(large) - large.height;
  expect(contentHeight(large)).toBe(8_000_000);
  expect(rowsInView({ ...large, scrollTop: end }, 0).last).toBe(999_999);
  expect(rowsInView(large, 0).first).toBe(0);
  const there = { ...large, scrollTop: scrollFor(large, 500_000) };
  const { first, last } = rowsInView(there, 1);
  expect(first <= 500_000 && last >= 500_000).toBe(true);
  expect(rowTop(there, 500_000) - there.scrollTop).toBeLessThanOrEqual(large.height);
});
