import { describe, expect, test } from "vitest";
import { element, openApp } from "../view/open_app";

test("the value becomes the inner HTML", () => {
  const { say, show } = openApp({ "A.DEFAULT": '<template><p data-ui-b="0 ui-html" ui-html="text"></p></template>' });
  show(1, "A.DEFAULT", ["<b>x</b>"]);
  expect(element("p").innerHTML).toBe("<b>x</b>");
  say([1, 0, null]);
  expect(element("p").innerHTML).toBe("");
});

describe("with ?replace", () => {
  const html = '<template><main><p id="place" data-ui-b="0 ui-html;1 ui-class-on" ui-html="text?replace" ui-class-on="active"></p></main></template>';

  test("the value takes the element's place and id, and its other bindings", () => {
    const { say, show } = openApp({ "A.DEFAULT": html });
    show(1, "A.DEFAULT", ["<b>x</b> <i>y</i>", true]);
    expect([element("#place").localName, element("#place").classList.contains("on"), element("main").textContent]).toEqual(["b", true, "x y"]);
    say([1, 0, "<u>z</u>"]);
    expect([element("#place").localName, element("#place").classList.contains("on"), element("main").textContent]).toEqual(["u", true, "z"]);
  });

  test("plain text is wrapped, and empty text hidden", () => {
    const { say, show } = openApp({ "A.DEFAULT": html });
    show(1, "A.DEFAULT", ["only text", false]);
    expect([element("#place").localName, element("#place").textContent, element("#place").hidden]).toEqual(["span", "only text", false]);
    say([1, 0, null]);
    expect(element("#place").hidden).toBe(true);
  });
});
