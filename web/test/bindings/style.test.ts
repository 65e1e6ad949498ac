import { expect, test } from "vitest";
import { element, openApp } from "../view/open_app";

test("one style property follows the value; null removes it", () => {
  const { say, show } = openApp({ "A.DEFAULT": '<template><p style="margin:1px" data-ui-b="0 ui-style-width" ui-style-width="w"></p></template>' });
  show(1, "A.DEFAULT", ["5px"]);
  expect(element("p").style.width).toBe("5px");
  say([1, 0, null]);
  expect([element("p").style.width, element("p").style.margin]).toEqual(["", "1px"]);
});
