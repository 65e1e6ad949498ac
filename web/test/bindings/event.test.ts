import { expect, test } from "vitest";
import { element, flushed, openApp } from "../view/open_app";

test("an event sends the element's own value first, then calls the method", async () => {
  const { sent, show } = openApp({ "A.DEFAULT": '<template><input data-ui-b="0 ui-value;1 ui-event-input" ui-value="name" ui-event-input="typed()"></template>' });
  show(4, "A.DEFAULT", ["", null]);
  element("input", HTMLInputElement).value = "A";
  element("input").dispatchEvent(new Event("input"));
  await flushed();
  expect(sent.at(-1)).toEqual({ userEvent: true, messages: [[4, 0, "A"], [4, 1]] });
});

test("a method that takes the value gets it with the call", async () => {
  const { sent, show } = openApp({ "A.DEFAULT": '<template><input data-ui-b="0 ui-event-change" ui-event-change="pick(_)"></template>' });
  show(4, "A.DEFAULT", []);
  element("input", HTMLInputElement).value = "B";
  element("input").dispatchEvent(new Event("change"));
  await flushed();
  expect(sent.at(-1)).toEqual([4, 0, "B"]);
});

test("a view that was taken away no longer listens", async () => {
  const { sent, show } = openApp({ "A.DEFAULT": '<template><button data-ui-b="0 ui-event-click" ui-event-click="press()"></button></template>' });
  show(4, "A.DEFAULT", []);
  const button = element("button");
  show(4, "", []);
  const before = sent.length;
  button.click();
  await flushed();
  expect(sent).toHaveLength(before);
});

test("priorities order the messages of one frame", async () => {
  const { sent, show } = openApp({ "A.DEFAULT": '<template><button data-ui-b="0 ui-event-click;1 ui-action" ui-event-click="later()?priority=low" ui-action="first()?priority=high"></button></template>' });
  show(4, "A.DEFAULT", []);
  element("button").click();
  await flushed();
  expect(sent.at(-1)).toEqual({ userEvent: true, messages: [[4, 1], [4, 0]] });
});

test("a submitted form calls the method, and the page stays", async () => {
  const { sent, show } = openApp({ "A.DEFAULT": '<template><form data-ui-b="0 ui-event-submit" ui-event-submit="add()"><button></button></form></template>' });
  show(4, "A.DEFAULT", []);
  const submit = new Event("submit", { cancelable: true });
  element("form").dispatchEvent(submit);
  await flushed();
  expect([sent.at(-1), submit.defaultPrevented]).toEqual([[4, 0], true]);
});
