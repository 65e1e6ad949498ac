import { expect, it } from "vitest";
import { difference } from "../../../src/elements/editor/difference";

it.each([["", "abc"], ["abc", ""], ["abcd", "abXcd"], ["aaa", "aa"], ["one two", "one 2 two"], ["same", "same"], ["abab", "ab"]])("%s becomes %s", (before, after) => {
  const { from, to, insert } = difference(before, after);
  expect(before.slice(0, from) + insert + before.slice(to)).toBe(after);
});
