import { beforeEach, describe, expect, test, vi } from "vitest";
import { element, flushed, openApp, type OpenApp } from "../view/open_app";

function open(field: string, value: unknown): OpenApp {
  const opened = openApp({ "A.DEFAULT": `<template><main>${field}</main></template>` });
  opened.show(1, "A.DEFAULT", [value]);
  return opened;
}

async function sentAfter({ sent }: OpenApp, act: () => void): Promise<unknown[]> {
  const before = sent.length;
  act();
  await flushed();
  return sent.slice(before);
}

beforeEach(() => document.body.replaceChildren());

describe("a text field", () => {
  const html = '<input data-ui-b="0 ui-value" ui-value="name">';

  test("shows its value, and sends what was typed when it is left", async () => {
    const app = open(html, "Ann");
    const field = element("input", HTMLInputElement);
    expect(field.value).toBe("Ann");
    field.focus();
    field.value = "Anna";
    expect(await sentAfter(app, () => field.blur())).toEqual([[1, 0, "Anna"]]);
  });

  test("sends nothing when nothing was changed", async () => {
    const app = open(html, "Ann");
    const field = element("input", HTMLInputElement);
    field.focus();
    expect(await sentAfter(app, () => field.blur())).toEqual([]);
  });

  test("is not overwritten while it has the focus and unsent text", () => {
    const app = open(html, "Ann");
    const field = element("input", HTMLInputElement);
    field.focus();
    field.value = "Anna";
    app.say([1, 0, "Bob"]);
    expect(field.value).toBe("Anna");
  });

  test("is overwritten while it has the focus and no unsent text, and keeps the caret", () => {
    const app = open(html, "Ann");
    const field = element("input", HTMLInputElement);
    field.focus();
    field.setSelectionRange(1, 2);
    app.say([1, 0, "Bobby"]);
    expect([field.value, field.selectionStart, field.selectionEnd]).toEqual(["Bobby", 1, 2]);
  });

  test("with ?keypress sends while typing", async () => {
    const app = open(html.replace("name", "name?keypress"), "");
    const field = element("input", HTMLInputElement);
    field.value = "A";
    expect(await sentAfter(app, () => field.dispatchEvent(new Event("input")))).toEqual([[1, 0, "A"]]);
  });

  test("that is write-only never shows a value, and sends also what did not change", async () => {
    const app = open(html.replace("name", "name?access=w"), "Ann");
    const field = element("input", HTMLInputElement);
    expect(field.value).toBe("");
    expect(await sentAfter(app, () => field.dispatchEvent(new Event("change")))).toEqual([[1, 0, ""]]);
  });

  test("that is read-only never sends", async () => {
    const app = open(html.replace("name", "name?access=r"), "Ann");
    const field = element("input", HTMLInputElement);
    field.value = "Bob";
    expect(await sentAfter(app, () => field.dispatchEvent(new Event("change")))).toEqual([]);
  });
});

describe("a choice", () => {
  test("by checkbox is true or false", async () => {
    const app = open('<input type="checkbox" data-ui-b="0 ui-value" ui-value="on">', 1);
    const box = element("input", HTMLInputElement);
    expect(box.checked).toBe(true);
    expect(await sentAfter(app, () => box.click())).toEqual([[1, 0, false]]);
  });

  test("by radio button is the value of the one that was switched on", async () => {
    const app = open('<input type="radio" value="a" data-ui-b="0 ui-value" ui-value="pick"><input type="radio" value="b" data-ui-b="0 ui-value" ui-value="pick">', "a");
    const [a, b] = [...document.querySelectorAll("input")] as [HTMLInputElement, HTMLInputElement];
    expect(await sentAfter(app, () => {
      a.checked = false;
      a.dispatchEvent(new Event("change"));
    })).toEqual([]);
    expect(await sentAfter(app, () => {
      b.checked = true;
      b.dispatchEvent(new Event("change"));
    })).toEqual([[1, 0, "b"]]);
  });

  test("with a change event of its own is left to that event", async () => {
    const app = open('<input type="checkbox" data-ui-b="0 ui-value;1 ui-event-change" ui-value="on" ui-event-change="toggle()">', false);
    expect(await sentAfter(app, () => element("input").click())).toEqual([[1, 1]]);
  });

  test("by select sends the chosen option", async () => {
    const app = open('<select data-ui-b="0 ui-value" ui-value="pick"><option>a</option><option>b</option></select>', "b");
    const list = element("select", HTMLSelectElement);
    expect(list.value).toBe("b");
    list.value = "a";
    expect(await sentAfter(app, () => list.dispatchEvent(new Event("change")))).toEqual([[1, 0, "a"]]);
  });

  test("by select waits for options that come later", async () => {
    open('<select data-ui-b="0 ui-value" ui-value="pick"></select>', "b");
    const list = element("select", HTMLSelectElement);

    list.innerHTML = '<option value="a">one</option><option value="b">two</option>';

    await vi.waitFor(() => expect(list.value).toBe("b"));
  });
});

describe("a Shoelace component", () => {
  const component = (tag: string): HTMLElement & { value?: unknown } => element(tag);
  const set = (selector: string, values: object): Element => Object.assign(element(selector), values);

  test.each([
    ["sl-input", { value: "Anna" }, "Anna"],
    ["sl-switch", { checked: true }, true],
    ["sl-range", { value: 7 }, 7],
    ["sl-select", { value: ["a", "b"] }, ["a", "b"]],
    ["sl-color-picker", { value: "#fff" }, "#fff"],
  ])("%s sends %j after sl-change", async (tag, values, sent) => {
    const app = open(`<${tag} data-ui-b="0 ui-value" ui-value="x"></${tag}>`, null);
    const field = set(tag, values);
    expect(await sentAfter(app, () => field.dispatchEvent(new Event("sl-change")))).toEqual([[1, 0, sent]]);
  });

  test("gets numbers and lists in the form that it needs", () => {
    open('<sl-rating data-ui-b="0 ui-value" ui-value="x"></sl-rating>', "3");
    expect(component("sl-rating").value).toBe(3);
    open('<sl-select data-ui-b="0 ui-value" ui-value="x"></sl-select>', [1, 2]);
    expect(component("sl-select").value).toEqual(["1", "2"]);
    open('<sl-select data-ui-b="0 ui-value" ui-value="x"></sl-select>', 5);
    expect(component("sl-select").value).toBe("5");
  });

  test("that only displays is never sent", async () => {
    const app = open('<sl-progress-bar data-ui-b="0 ui-value" ui-value="x"></sl-progress-bar>', 40);
    const bar = component("sl-progress-bar");
    expect(bar.value).toBe(40);
    expect(await sentAfter(app, () => bar.dispatchEvent(new Event("sl-change")))).toEqual([]);
  });
});

describe("any other element", () => {
  test.each([
    ["text", "text"],
    [12, "12"],
    [{ a: 1 }, '{"a":1}'],
    [false, "false"],
  ])("shows %j as %s", (value, text) => {
    open('<p data-ui-b="0 ui-value" ui-value="x"></p>', value);
    expect(element("p").textContent).toBe(text);
  });

  test.each([
    ["decimals=2", 1234.5, "1,234.50"],
    ["decimals=0&unit=%", 12.4, "12 %"],
    ["unit=km/h", 3.25, "3.25 km/h"],
    ["decimals=2", "1234.5", "1234.5"],
    ["decimals=2&unit=€", null, ""],
    ["decimals=many", 1234.5, "1234.5"],
    ["unit=km", 12345, "12,345 km"],
  ])("with ?%s shows %j as %j", (options, value, text) => {
    open(`<p data-ui-b="0 ui-value" ui-value="total()?${options}"></p>`, value);
    expect(element("p").textContent).toBe(text);
  });

  test("may announce a value by an event", async () => {
    const app = open('<input data-ui-b="0 ui-value" ui-value="x">', null);
    expect(await sentAfter(app, () => element("input").dispatchEvent(new CustomEvent("ui-value-change", { detail: { value: 5 } })))).toEqual([[1, 0, 5]]);
    expect(await sentAfter(app, () => element("input").dispatchEvent(new CustomEvent("ui-value-change")))).toEqual([[1, 0, null]]);
  });
});
