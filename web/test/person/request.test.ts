/** How a request is written for a person: readable, and never other than it is. */
import { expect, test } from "vitest";
import { grouped } from "../../src/person/sign_in";
import { pauseAfter } from "../../src/person/questions";
import { indented, plain } from "../../src/person/request";

test("a body is broken into lines and keeps every sign that is no white space", () => {
  const body = '{"a":[1,2.50,{}],"s":"x, {y: \\"z\\"} ","a":null}';
  const lines = indented(body);
  expect(lines).toBe('{\n  "a": [\n    1,\n    2.50,\n    {}\n  ],\n  "s": "x, {y: \\"z\\"} ",\n  "a": null\n}');
});

test("what is no JSON object stays as it is", () => {
  expect([indented("a=1&b={2}"), indented('{\n"a": 1}')]).toEqual(["a=1&b={2}", '{\n"a": 1}']);
});

test("signs that hide or turn the reading order are shown", () => {
  expect(plain("pay\u202e001\u200b\n")).toBe("pay\\u202e001\\u200b\n");
});

test("a code is written as the terminal shows it", () => {
  expect([grouped("abcd efgh"), grouped("abcdefghjklmnpqrst"), grouped("ab")]).toEqual(["ABCD-EFGH", "ABCD-EFGH-JKLM-NPQR", "AB"]);
});

test("the pause between looks doubles with each failure, up to half a minute", () => {
  expect([0, 1, 2, 9].map(pauseAfter)).toEqual([1500, 3000, 6000, 30_000]);
});
