import { expect, test } from "vitest";
import { element, openApp } from "./open_app";

const OUTER = '<template><div><span id="place" class="wide" style="color:red" slot="main" data-ui-b="0 ui-view;1 ui-class-on" ui-view="child" ui-class-on="active"></span></div></template>';
const CHILD = '<template><p style="margin:0" data-ui-b="0 ui-value" ui-value="name"></p></template>';

test("a nested view takes the place of its element, with id, class, style and slot", () => {
  const { show } = openApp({ "A.DEFAULT": OUTER, "B.DEFAULT": CHILD });
  show(1, "A.DEFAULT", [[5, "B.DEFAULT", ["Ann"]], false]);
  const child = element("p");
  expect([child.id, child.className, child.getAttribute("style"), child.slot, child.textContent]).toEqual(["place", "ui-view-5 wide", "margin:0; color:red", "main", "Ann"]);
  expect(document.querySelector("span")).toBeNull();
});

test("the other bindings of the replaced element act on the view", () => {
  const { say, show } = openApp({ "A.DEFAULT": OUTER, "B.DEFAULT": CHILD });
  show(1, "A.DEFAULT", [[5, "B.DEFAULT", ["Ann"]], true]);
  expect(element("p").classList.contains("on")).toBe(true);
  say([1, 1, false]);
  expect(element("p").classList.contains("on")).toBe(false);
});

test("a view that is taken away leaves the empty element, and the next one takes its place again", () => {
  const { show } = openApp({ "A.DEFAULT": OUTER, "B.DEFAULT": CHILD });
  show(1, "A.DEFAULT", [[5, "B.DEFAULT", ["Ann"]], true]);
  show(0, "", [], { parent: 1, slot: 0 });
  expect([element("#place").localName, element("#place").textContent, element("#place").classList.contains("on")]).toEqual(["span", "", true]);
  show(6, "B.DEFAULT", ["Bob"], { parent: 1, slot: 0 });
  expect([element("#place").localName, element("#place").textContent]).toEqual(["p", "Bob"]);
});

test("a view whose root is a nested view is represented by the innermost element", () => {
  const { show } = openApp({ "A.DEFAULT": OUTER, "M.DEFAULT": '<template><section data-ui-b="0 ui-view" ui-view="inner"></section></template>', "B.DEFAULT": CHILD });
  show(1, "A.DEFAULT", [[5, "M.DEFAULT", [[6, "B.DEFAULT", ["Ann"]]]], true]);
  expect([element("p").classList.contains("on"), document.querySelector("section")]).toEqual([true, null]);
  show(7, "B.DEFAULT", ["Bob"], { parent: 5, slot: 0 });
  expect([element("p").textContent, element("p").classList.contains("on")]).toEqual(["Bob", true]);
});
