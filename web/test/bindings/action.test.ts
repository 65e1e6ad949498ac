import { expect, test } from "vitest";
import { element, flushed, openApp } from "../view/open_app";

test("a click calls the method and stops the browser's own action", async () => {
  const { sent, show } = openApp({ "A.DEFAULT": '<template><a href="#x" data-ui-b="0 ui-action" ui-action="press()">Go</a></template>' });
  show(4, "A.DEFAULT", []);
  const click = new MouseEvent("click", { bubbles: true, cancelable: true });
  element("a").dispatchEvent(click);
  await flushed();
  expect([sent.at(-1), click.defaultPrevented]).toEqual([[4, 0], true]);
});

test("a method that takes the value gets that of the element", async () => {
  const { sent, show } = openApp({ "A.DEFAULT": '<template><button value="seven" data-ui-b="0 ui-action" ui-action="pick(_)">7</button></template>' });
  show(4, "A.DEFAULT", []);
  element("button").click();
  await flushed();
  expect(sent.at(-1)).toEqual([4, 0, "seven"]);
});

test("text that was typed leaves before the click that uses it", async () => {
  const { sent, show } = openApp({ "A.DEFAULT": '<template><form><input data-ui-b="0 ui-value" ui-value="name"><button type="button" data-ui-b="1 ui-action" ui-action="save()"></button></form></template>' });
  show(4, "A.DEFAULT", ["", null]);
  const field = element("input", HTMLInputElement);
  field.focus();
  field.value = "Ann";
  field.blur();
  element("button").click();
  await flushed();
  expect(sent.at(-1)).toEqual({ userEvent: true, messages: [[4, 0, "Ann"], [4, 1]] });
});
