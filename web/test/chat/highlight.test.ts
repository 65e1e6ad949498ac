import { describe, expect, it } from "vitest";
import { highlight } from "../../src/chat/highlight";

describe("highlight", () => {
  it("keeps every character", () => {
    const code = 'def f(x):  # why\n    return "a" + 1.5 // `b`';
    expect(highlight(code, "python").map((piece) => piece.text).join("")).toBe(code);
  });

  it("knows comments of the language", () => {
    expect(highlight("-- why\nlocal x = 1", "lua").map(({ kind }) => kind)).toEqual(["comment", "plain", "keyword", "plain", "plain", "plain", "number"]);
  });

  it.each([
    ["x = 'a' # b", "python", ["plain", "string", "plain", "comment"]],
    ["a // b", "js", ["plain", "plain", "comment"]],
    ["/* a\n*/ return", "", ["comment", "plain", "keyword"]],
    ["no words at all: ?", "sql", ["plain"]],
  ])("splits %j of %s by kind", (code, language, kinds) => {
    const found = highlight(code, language).map(({ kind }) => kind);
    expect([...new Set(kinds)].every((kind) => found.includes(kind as (typeof found)[number]))).toBe(true);
    expect(found.filter((kind) => kind !== "plain")).toEqual(kinds.filter((kind) => kind !== "plain"));
  });
});
