import { expect, it } from "vitest";
import { compare, folded, paired, parseUnified } from "../../../src/elements/diff/compare";

const text = (rows: ReturnType<typeof compare>): string[] => rows.map(({ kind, old, new: now, parts }) => `${kind} ${old ?? "-"} ${now ?? "-"} ${parts.map((part) => (part.changed ? `[${part.text}]` : part.text)).join("")}`);

it("numbers lines on both sides and marks words", () => {
  expect(text(compare("a\nthe old way\nc\n", "a\nthe new way\nc\nd\n"))).toEqual(["same 1 1 a", "gone 2 - the [old] way", "new - 2 the [new] way", "same 3 3 c", "new - 4 d"]);
  expect(compare("", "")).toEqual([]);
});

it("folds what is far from a change", () => {
  const lines = Array.from({ length: 20 }, (_, at) => `line ${at}`);
  const shown = folded(compare(lines.join("\n"), [...lines, "end"].join("\n")), 2);
  expect(shown[0]).toMatchObject({ kind: "fold" });
  expect(shown.slice(1).map(({ kind }) => kind)).toContain("new");
});

it("puts what came beside what is gone", () => {
  expect(paired(compare("a\nb\n", "x\ny\nb\n")).map(({ left, right }) => [left?.parts[0]?.text ?? null, right?.parts[0]?.text ?? null])).toEqual([["a", "x"], [null, "y"], ["b", "b"]]);
});

it("reads what git prints", () => {
  const rows = parseUnified("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -3,2 +3,2 @@ f()\n same\n-old\n+new\n\\ No newline at end of file\n");
  expect(text(rows).slice(-3)).toEqual(["same 3 3 same", "gone 4 - old", "new - 4 new"]);
});
