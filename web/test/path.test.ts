import { describe, expect, it } from "vitest";
import { matches, parseChord } from "../src/bindings/keypress";
import { parsePath } from "../src/path";
import { parts } from "../src/protocol";
import { sessionOf } from "../src/session";

describe("a binding's text", () => {
  it("splits at the first question mark and decodes its options", () => {
    const text = parsePath(" a.b()?access=rw&keypress&label=a+b%3F ");
    expect(text.path).toBe("a.b()");
    expect(text.calls).toBe(true);
    expect([...text.options]).toEqual([["access", "rw"], ["keypress", "true"], ["label", "a b?"]]);
  });

  it("knows a method that takes the value", () => {
    expect(parsePath("pick(_)").takesValue).toBe(true);
    expect(parsePath("pick(_)").calls).toBe(false);
  });
});

describe("a key chord", () => {
  const press = (key: string, more: KeyboardEventInit = {}): KeyboardEvent => new KeyboardEvent("keydown", { key, ...more });

  it("takes modifiers in any order and matches them exactly", () => {
    const chord = parseChord("shift-ctrl-k");
    expect(matches(chord, press("K", { ctrlKey: true, shiftKey: true }))).toBe(true);
    expect(matches(chord, press("k", { ctrlKey: true }))).toBe(false);
    expect(matches(chord, press("K", { ctrlKey: true, shiftKey: true, altKey: true }))).toBe(false);
  });

  it("knows the named keys", () => {
    expect(matches(parseChord("left"), press("ArrowLeft"))).toBe(true);
    expect(matches(parseChord("space"), press(" "))).toBe(true);
    expect(matches(parseChord("escape"), press("Escape"))).toBe(true);
    expect(matches(parseChord("enter"), press("Enter", { shiftKey: true }))).toBe(false);
  });

  it("lets a character that needs shift stand for itself", () => {
    expect(matches(parseChord("?"), press("?", { shiftKey: true }))).toBe(true);
    expect(matches(parseChord("-"), press("-"))).toBe(true);
  });
});

describe("a frame", () => {
  it("is one message, one short update, or an array of both", () => {
    expect(parts("[3,1,null]")).toEqual([[3, 1, null]]);
    expect(parts('[[3,1,2],{"type":"destroy","data":{"varId":2}}]')).toHaveLength(2);
    expect(parts('{"type":"destroy","data":{"varId":2}}')).toHaveLength(1);
  });
});

describe("the page's session", () => {
  it("is named by the first part of the address", () => {
    const secret = "0123456789abcdef0123456789abcdef";
    expect(sessionOf("/", document).address).toBe("1");
    expect(sessionOf("/2/any", document)).toEqual({ address: "2", number: "2" });
    expect(sessionOf(`/${secret}/x`, document).address).toBe(secret);
    expect(sessionOf("/variables", document).address).toBe("1");
  });
});
