import { afterEach, describe, expect, test, vi } from "vitest";
import { element, flushed, openApp, viewdefsMessage } from "./open_app";

const FORM = '<template><form data-ui-b="0 ui-event-submit" ui-event-submit="save()"><input data-ui-b="1 ui-value" ui-value="name"></form></template>';
const BUTTON = '<template><button data-ui-b="0 ui-action" ui-action="press()">Press</button></template>';

afterEach(() => void vi.restoreAllMocks());

describe("a new connection", () => {
  test("asks for the root and everything below it", () => {
    const { sent } = openApp({});
    expect(sent).toEqual([{ userEvent: false, messages: [{ type: "watch", data: { varId: 1, expand: true } }] }]);
  });

  test("asks for nothing that was requested before", () => {
    const { app, sent } = openApp({});
    app.opened(true);
    expect(sent).toHaveLength(1);
  });

  test("keeps the old content until the new one arrives", () => {
    const { app, root, show } = openApp({ "A.DEFAULT": "<template><p>old</p></template>" });
    show(1, "A.DEFAULT", []);
    app.lost();
    app.opened(false);
    expect(root.textContent).toBe("old");
  });

  test("sends a click that was made while the server was away to the button's new position", async () => {
    const { app, sent, say, show } = openApp({ "A.DEFAULT": BUTTON });
    show(5, "A.DEFAULT", []);
    app.lost();
    element("button").click();
    await flushed();
    expect(sent).toHaveLength(1);

    app.opened(true);
    say(viewdefsMessage({ "A.DEFAULT": BUTTON }));
    show(9, "A.DEFAULT", []);
    expect(sent.slice(1)).toEqual([[9, 0]]);
  });

  test("drops a click whose button is gone", async () => {
    const { app, sent, show } = openApp({ "A.DEFAULT": BUTTON, "B.DEFAULT": "<template><p>other</p></template>" });
    show(5, "A.DEFAULT", []);
    app.lost();
    element("button").click();
    await flushed();
    app.opened(true);
    show(6, "B.DEFAULT", []);
    await flushed();
    expect(sent).toHaveLength(1);
  });
});

describe("a view", () => {
  test("fills the root with its values and carries its key and number", () => {
    const { root, show } = openApp({ "A.DEFAULT": '<template><p data-ui-b="0 ui-value" ui-value="name"></p></template>' });
    show(3, "A.DEFAULT", ["Ann"]);
    expect(root.innerHTML).toMatch(/^<p ui-value="name" class="ui-view-3" ui-viewdef="A.DEFAULT" id="ui-\d+">Ann<\/p>$/);
  });

  test("is updated at one position by a short frame", () => {
    const { root, say, show } = openApp({ "A.DEFAULT": '<template><p><b data-ui-b="0 ui-value" ui-value="a">-</b><i data-ui-b="1 ui-value" ui-value="b">-</i></p></template>' });
    show(3, "A.DEFAULT", ["one", "two"]);
    say([3, 1, 22]);
    expect(root.textContent).toBe("one22");
  });

  test("leaves the author's text where the value is null", () => {
    const { root, show } = openApp({ "A.DEFAULT": '<template><p data-ui-b="0 ui-value" ui-value="name">no name yet</p></template>' });
    show(3, "A.DEFAULT", [null]);
    expect(root.textContent).toBe("no name yet");
  });

  test("is taken away by an empty key", () => {
    const { root, show } = openApp({ "A.DEFAULT": "<template><p>here</p></template>" });
    show(3, "A.DEFAULT", []);
    show(3, "", []);
    expect(root.textContent).toBe("");
  });

  test("of a viewdef that is not known shows nothing", () => {
    const { root, show } = openApp({});
    show(3, "A.DEFAULT", []);
    expect(root.textContent).toBe("");
  });

  test("loads the custom elements that it uses", () => {
    const { defined, show } = openApp({ "A.DEFAULT": "<template><sl-badge>1</sl-badge></template>" });
    show(3, "A.DEFAULT", []);
    expect(defined).toEqual(["sl-badge"]);
  });
});

describe("a message", () => {
  test("that fails is logged, and the next one still applies", () => {
    const error = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const { root, say } = openApp({ "A.DEFAULT": "<template><p>shown</p></template>" });
    say({ type: "update", data: { varId: 1, properties: { viewdefs: "{" } } }, { type: "view", data: { view: 2, parent: 0, slot: 0, key: "A.DEFAULT" } });
    expect(root.textContent).toBe("shown");
    expect(error).toHaveBeenCalledOnce();
  });

  test("with a notice reaches the page", () => {
    const { notices, say } = openApp({});
    say({ type: "update", data: { varId: 1, properties: { notice: '{"level":"warning","text":"slow","code":"x"}' } } });
    expect(notices).toEqual(["warning x slow"]);
  });

  test("about an error marks the element until its value is good again", () => {
    const { say, show } = openApp({ "A.DEFAULT": FORM });
    show(3, "A.DEFAULT", [null, ""]);
    const field = element("input");
    say({ type: "error", data: { view: 3, pos: 1, code: "bad", description: "Not a name" } });
    expect([field.className, field.getAttribute("ui-error-code"), field.getAttribute("ui-error-description")]).toEqual(["ui-error", "bad", "Not a name"]);

    say([3, 1, "Ann"]);
    expect([field.className, field.getAttribute("ui-error-code")]).toEqual(["", null]);
  });

  test("about an error without a place becomes a notice", () => {
    const { notices, say } = openApp({});
    say({ type: "error", data: { code: "bad", description: "Something failed" } });
    expect(notices).toEqual(["error bad Something failed"]);
  });
});

describe("scripts", () => {
  test("read the variable behind a binding by its negative id", () => {
    const { app, show } = openApp({ "A.DEFAULT": '<template><p data-ui-b="2 ui-value" ui-value="name"></p></template>' });
    show(10, "A.DEFAULT", [null, null, "Ann"]);
    expect(app.variables.get(-12)).toEqual({ varId: -12, parentId: -10, value: "Ann", properties: {} });
    expect(app.variables.get(-99)).toBeNull();
  });
});

test("an element with scrollOnOutput follows its end while the reader is there", () => {
  const { say, show } = openApp({ "A.DEFAULT": '<template><div data-ui-b="0 ui-class-x" ui-class-x="on?scrollOnOutput"><p data-ui-b="1 ui-value" ui-value="text"></p></div></template>' });
  show(3, "A.DEFAULT", [false, "one"]);
  const log = element("[ui-viewdef]");
  Object.defineProperties(log, { scrollHeight: { value: 500 }, clientHeight: { value: 100 } });
  log.scrollTop = 400;
  say([3, 1, "two"]);
  expect(log.scrollTop).toBe(500);
  log.scrollTop = 100;
  say([3, 1, "three"]);
  expect(log.scrollTop).toBe(100);
});

test("a two-way binding of a third-party element is reported once", async () => {
  vi.useFakeTimers();
  class Rating extends HTMLElement {
    value = 0;
  }
  customElements.define("x-rating", Rating);
  const { sent, show } = openApp({ "A.DEFAULT": '<template><x-rating data-ui-b="0 ui-value" ui-value="stars"></x-rating></template>' });
  show(3, "A.DEFAULT", [4]);
  show(4, "A.DEFAULT", [5]);
  await vi.advanceTimersByTimeAsync(20);
  vi.useRealTimers();
  expect(sent.slice(1)).toEqual([{ userEvent: false, messages: [{ type: "update", data: { varId: 1, properties: { editable: "A.DEFAULT 0" } } }] }]);
  expect(element("x-rating", Rating).value).toBe(5);
});
