import { describe, expect, it } from "vitest";
import { parsePath } from "../src/path";

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
