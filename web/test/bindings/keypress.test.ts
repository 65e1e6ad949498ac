import { describe, expect, test } from "vitest";
import { matches, parseChord } from "../../src/bindings/keypress";
import { element, flushed, openApp } from "../view/open_app";

const press = (key: string, more: KeyboardEventInit = {}): KeyboardEvent => new KeyboardEvent("keydown", { key, cancelable: true, bubbles: true, ...more });

describe("a key chord", () => {
  test("takes modifiers in any order and matches them exactly", () => {
    const chord = parseChord("shift-ctrl-k");
    expect(matches(chord, press("K", { ctrlKey: true, shiftKey: true }))).toBe(true);
    expect(matches(chord, press("k", { ctrlKey: true }))).toBe(false);
    expect(matches(chord, press("K", { ctrlKey: true, shiftKey: true, altKey: true }))).toBe(false);
  });

  test("knows the named keys", () => {
    expect(matches(parseChord("left"), press("ArrowLeft"))).toBe(true);
    expect(matches(parseChord("space"), press(" "))).toBe(true);
    expect(matches(parseChord("escape"), press("Escape"))).toBe(true);
    expect(matches(parseChord("enter"), press("Enter", { shiftKey: true }))).toBe(false);
  });

  test("lets a character that needs shift stand for itself", () => {
    expect(matches(parseChord("?"), press("?", { shiftKey: true }))).toBe(true);
    expect(matches(parseChord("-"), press("-"))).toBe(true);
  });
});

describe("a key press", () => {
  const html = (path: string): string => `<template><input data-ui-b="0 ui-value;1 ui-event-keypress-enter" ui-value="name" ui-event-keypress-enter="${path}"></template>`;

  test("sends the field's value, then calls the method, instead of submitting a form", async () => {
    const { sent, show } = openApp({ "A.DEFAULT": html("save()") });
    show(3, "A.DEFAULT", ["", null]);
    element("input", HTMLInputElement).value = "Ann";
    const event = press("Enter");
    element("input").dispatchEvent(event);
    await flushed();
    expect([sent.at(-1), event.defaultPrevented]).toEqual([{ userEvent: true, messages: [[3, 0, "Ann"], [3, 1]] }, true]);
  });

  test("writes the key's name to a path that is no method", async () => {
    const { sent, show } = openApp({ "A.DEFAULT": html("key") });
    show(3, "A.DEFAULT", ["", null]);
    element("input").dispatchEvent(press("Enter"));
    await flushed();
    expect(sent.at(-1)).toEqual([3, 1, "enter"]);
  });

  test("of another key, or while an input method is composing, does nothing", async () => {
    const { sent, show } = openApp({ "A.DEFAULT": html("save()") });
    show(3, "A.DEFAULT", ["", null]);
    const before = sent.length;
    element("input").dispatchEvent(press("a"));
    element("input").dispatchEvent(press("Enter", { isComposing: true }));
    await flushed();
    expect(sent).toHaveLength(before);
  });
});
