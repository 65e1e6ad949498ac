import { expect, test } from "vitest";
import { publish } from "../src/api";
import type { Connection } from "../src/transport/connection";
import { element, flushed, openApp } from "./view/open_app";

const connection: Connection = { status: "open", send: () => true, retry: () => undefined, end: () => undefined };

test("scripts find the page's objects on window, beside what they put there themselves", () => {
  Object.assign(window, { uiApp: { own: 1 } });
  const { app, show } = openApp({ "A.DEFAULT": "<template><p></p></template>" });
  publish(app, connection);
  show(1, "A.DEFAULT", []);
  expect([window.uiApp["own"], window.uiApp.getStore() === window.uiStore, window.uiApp.getConnection().status, window.uiApp.getViewdefStore().keys()]).toEqual([1, true, "open", ["A.DEFAULT"]]);
  expect([window.uiApp.getAppView()?.number, window.uiApp.getBinding() === app]).toEqual([1, true]);
});

test("updateValue sends a value for an element, by default the one it shows", async () => {
  const { app, sent, show } = openApp({ "A.DEFAULT": '<template><input id="f" data-ui-b="0 ui-value" ui-value="name"></template>' });
  publish(app, connection);
  show(1, "A.DEFAULT", ["Ann"]);
  element("#f", HTMLInputElement).value = "typed";
  window.uiApp.updateValue("f");
  await flushed();
  window.uiApp.updateValue("f", 5);
  window.uiApp.updateValue("missing", 5);
  await flushed();
  expect(sent.slice(1)).toEqual([[1, 0, "typed"], [1, 0, 5]]);
});

test("scripts can walk the views of the page", () => {
  const { app, show } = openApp({
    "A.DEFAULT": '<template><main><p data-ui-b="0 ui-view" ui-view="one"></p><ul data-ui-b="1 ui-viewlist" ui-viewlist="many"><li></li></ul></main></template>',
    "B.DEFAULT": "<template><b></b></template>",
  });
  publish(app, connection);
  show(1, "A.DEFAULT", [[2, "B.DEFAULT", []], [[3, "B.DEFAULT", []], [4, 0, []]]]);
  expect([...(window.uiApp.getAppView()?.children() ?? [])].map((view) => view.number)).toEqual([2, 3, 4]);
});

test("scripts mark an element for a moment, and learn which viewdef shows it", () => {
  const { app } = openApp({});
  publish(app, connection);
  document.body.innerHTML = '<p ui-viewdef="A.DEFAULT"><b id="in"></b></p><i id="after"></i>';
  element("#in", HTMLElement).scrollIntoView = () => undefined;
  window.uiApp.highlight("in");
  window.uiApp.highlight("missing");
  expect(element("#in", HTMLElement).classList.contains("ui-highlight")).toBe(true);
  expect(["in", "after", "missing"].map((id) => window.uiApp.findViewdef(id))).toEqual(["A.DEFAULT", "A.DEFAULT", null]);
});
