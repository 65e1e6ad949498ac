import { expect, test } from "vitest";
import { element, openApp } from "../view/open_app";

test("the class is there while the value is truthy", () => {
  const { say, show } = openApp({ "A.DEFAULT": '<template><p class="own" data-ui-b="0 ui-class-on" ui-class-on="active"></p></template>' });
  show(1, "A.DEFAULT", [1]);
  expect(element("p").classList.contains("on")).toBe(true);
  say([1, 0, null]);
  expect([element("p").classList.contains("on"), element("p").classList.contains("own")]).toEqual([false, true]);
});
