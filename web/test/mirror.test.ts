import { expect, test } from "vitest";

const sources = Object.keys(import.meta.glob("../src/**/*.ts")).map((path) => path.slice("../src/".length, -".ts".length));
const tests = Object.keys(import.meta.glob("./**/*.test.ts")).map((path) => path.slice("./".length, -".test.ts".length));

test("every test file is named after the source file that it tests", () => {
  expect(tests.filter((name) => name !== "mirror" && !sources.includes(name))).toEqual([]);
});
