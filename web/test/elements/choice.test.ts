import { expect, it } from "vitest";
import { matching } from "../../src/elements/choice";
import { listOf, textsOf } from "../../src/elements/base";

const OPTIONS = ["Lime pie", "Apple pie", "Pie", "Cake"].map((label) => ({ label, value: label.toLowerCase() }));

it("finds options with every word, those that begin with the search first", () => {
  expect(matching(OPTIONS, "pie").map(({ label }) => label)).toEqual(["Pie", "Lime pie", "Apple pie"]);
  expect(matching(OPTIONS, "pie app").map(({ label }) => label)).toEqual(["Apple pie"]);
  expect(matching(OPTIONS, "")).toHaveLength(4);
});

it("reads texts from an attribute and from what Lua sends", () => {
  expect(textsOf("a| b")).toEqual(["a", "b"]);
  expect(textsOf('["a, b",1]')).toEqual(["a, b", "1"]);
  expect(textsOf(null)).toEqual([]);
  expect([listOf(null), listOf(""), listOf("x"), listOf(["x", 2])]).toEqual([[], [], ["x"], ["x", "2"]]);
});
