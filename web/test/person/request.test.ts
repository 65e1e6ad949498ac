/** How a request is written for a person: readable, and never other than it is. */
import { expect, test } from "vitest";
import { headline, indented, plain, previewOf, riskBadge, waitingRow } from "../../src/person/request";
import { approval } from "./approval";

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

test("the host of an address stands out, and a call without a request is named by its tool", () => {
  const text = (nodes: readonly Node[]): string[] => nodes.map((node) => (node as Element).innerHTML);
  expect(text(headline("t", { method: "DELETE", url: "https://a@b.example/x?y" }))[1]).toContain("<strong class=\"\">a@b.example</strong>/x?y");
  expect(text(headline("shop__list", null))).toEqual(["Call", "shop__list"]);
});

test("only what has the fields of a preview is one", () => {
  expect([previewOf({ method: "GET", url: "u" }), previewOf({ method: 1, url: "u" }), previewOf(null), previewOf(undefined)]).toEqual([{ method: "GET", url: "u" }, null, null, null]);
});

test("risks have a name, unknown ones none", () => {
  expect([riskBadge("destroys")?.textContent, riskBadge("other")]).toEqual(["Destructive", null]);
});

test("a row for reading has no buttons", () => {
  const row = waitingRow(approval({ risk: "destroys" }));
  expect([row.textContent, row.className, row.querySelector("button")]).toEqual(["Helper wants to ship order 1 in shop DestructiveCallshop__ship", "ask-row ask-destroys", null]);
});
