import { expect, test } from "vitest";
import { isVended, vendId } from "../../src/view/ids";

test("vended ids are new each time and can be told from an author's", () => {
  const [first, second] = [vendId(), vendId()];
  expect(first).not.toBe(second);
  expect([first, "ui-x", "name"].map(isVended)).toEqual([true, false, false]);
});
