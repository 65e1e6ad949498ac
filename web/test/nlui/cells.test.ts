import { expect, test } from "vitest";
import { cell, short } from "../../src/nlui/cells";

test.each([
  [null, "–"],
  [true, '<span class="nlui-badge nlui-yes">yes</span>'],
  [12, "12"],
  ["<b>", "&lt;b&gt;"],
  ["https://example.org/x", '<a href="https://example.org/x" target="_blank" rel="noopener noreferrer" class="">https://example.org/x</a>'],
  [{ a: 1 }, '<code class="">{"a":1}</code>'],
])("%j is shown as %s", (value, html) => {
  expect(cell("td", value, 40).innerHTML.replace(/(<\w+) class=""([^>]*)>/g, "$1$2 class=\"\">")).toBe(html);
});

test("a date is shown in the reader's own format and keeps its text", () => {
  const time = cell("td", "2026-02-03", 40).querySelector("time");
  expect([time?.dateTime, time?.title, time?.textContent]).toEqual(["2026-02-03", "2026-02-03", new Date("2026-02-03T00:00").toLocaleDateString()]);
});

test("long text and long JSON can be unfolded", () => {
  const text = cell("td", "x".repeat(50), 40);
  expect([text.querySelector("summary")?.textContent, text.querySelector("pre")?.textContent]).toEqual([`${"x".repeat(40)}…`, "x".repeat(50)]);
  expect(cell("td", Array.from({ length: 30 }, (_, at) => at), 40).querySelector("pre")?.textContent).toContain("[\n  0,");
});

test("values are shortened to a limit", () => {
  expect([short("abc", 2), short({ a: 1 }, 40), short(undefined, 5)]).toEqual(["ab…", '{"a":1}', ""]);
});
