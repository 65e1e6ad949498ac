import { expect, test } from "vitest";
import { Viewdefs } from "../../src/store/viewdefs";

test("a viewdef is compiled once, and again after it has changed", () => {
  const viewdefs = new Viewdefs();
  viewdefs.receive('{"A.DEFAULT":"<template><p></p></template>"}');
  const first = viewdefs.get("A.DEFAULT");
  expect(viewdefs.get("A.DEFAULT")).toBe(first);
  viewdefs.receive('{"A.DEFAULT":"<template><b></b></template>"}');
  expect(viewdefs.get("A.DEFAULT")?.content.firstElementChild?.localName).toBe("b");
});

test("keys that were sent are known, others are not", () => {
  const viewdefs = new Viewdefs();
  viewdefs.receive('{"A.DEFAULT":"","B.LIST":""}');
  expect([viewdefs.keys(), viewdefs.has("B.LIST"), viewdefs.has("C"), viewdefs.get("C")]).toEqual([["A.DEFAULT", "B.LIST"], true, false, undefined]);
});
