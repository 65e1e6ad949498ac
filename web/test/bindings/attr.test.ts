import { expect, test } from "vitest";
import { element, openApp } from "../view/open_app";

test.each([
  ["x", "x"],
  [5, "5"],
  [true, "true"],
  [[1], "[1]"],
  [null, null],
  [false, null],
])("%j makes the attribute %j", (value, shown) => {
  const { say, show } = openApp({ "A.DEFAULT": '<template><p data-ui-b="0 ui-attr-title" ui-attr-title="tip" title="author"></p></template>' });
  show(1, "A.DEFAULT", ["before"]);
  say([1, 0, value]);
  expect(element("p").getAttribute("title")).toBe(shown);
});
