import { describe, expect, it } from "vitest";
import { parsePath } from "../src/path";

describe("a binding's text", () => {
  it("splits at the first question mark and decodes its options", () => {
    const text = parsePath(" a.b()?access=rw&keypress&label=a+b%3F ");
    expect(text.path).toBe("a.b()");
    expect(text.calls).toBe(true);
    expect([...text.options]).toEqual([["access", "rw"], ["keypress", "true"], ["label", "a b?"]]);
  });

  it("reads arguments, negations and comparisons only", () => {
    for (const text of ["sort('date')", "!empty", "status == 'open'", "count > 3"]) {
      expect(parsePath(text).calls).toBe(true);
    }
    expect(parsePath("status").calls).toBe(false);
  });

  it("leaves question marks inside quotes to the path", () => {
    expect(parsePath("ask('why?')?keypress").path).toBe("ask('why?')");
    expect([...parsePath("ask('why?')?keypress").options.keys()]).toEqual(["keypress"]);
  });

  it("knows a method that takes the value", () => {
    expect(parsePath("pick(_)").takesValue).toBe(true);
    expect(parsePath("pick(_)").calls).toBe(false);
    expect(parsePath("pick('_)', index)").takesValue).toBe(false);
    expect(parsePath("pick('a', _)").takesValue).toBe(true);
  });
});
