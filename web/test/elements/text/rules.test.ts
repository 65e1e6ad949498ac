import { expect, it } from "vitest";
import { problemOf, type Rules } from "../../../src/elements/text/rules";

const ANY: Rules = { type: "", least: 0, most: 0, pattern: "", expected: "" };

it("takes an empty text whatever the rules are", () => {
  expect(problemOf("", { type: "email", least: 8, most: 9, pattern: "x+", expected: "" })).toBe("");
});

it.each([
  ["email", "ada@example.org", ""],
  ["email", "ada@localhost", ""],
  ["email", "ada", "Write an address like name@example.org."],
  ["email", "ada@", "Write an address like name@example.org."],
  ["url", "https://example.org/x", ""],
  ["url", "example.org", "Write an address like https://example.org."],
])("checks an address: %s %s", (type, text, problem) => {
  expect(problemOf(text, { ...ANY, type })).toBe(problem);
});

it("counts characters", () => {
  expect(problemOf("short", { ...ANY, least: 8 })).toBe("At least 8 characters; there are 5.");
  expect(problemOf("too long", { ...ANY, most: 4 })).toBe("At most 4 characters; there are 8.");
});

it("matches the whole text, and says what is expected", () => {
  expect(problemOf("12345", { ...ANY, pattern: "\\d{5}" })).toBe("");
  expect(problemOf("123456", { ...ANY, pattern: "\\d{5}", expected: "Five digits." })).toBe("Five digits.");
  expect(problemOf("x", { ...ANY, pattern: "\\d{5}" })).toBe("It must match \\d{5}.");
  expect(problemOf("x", { ...ANY, pattern: "(" })).toBe("");
});
