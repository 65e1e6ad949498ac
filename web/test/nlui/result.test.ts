import { describe, expect, test } from "vitest";
import { resultView, view } from "../../src/nlui/result";

const texts = (root: Element, selector: string): (string | null)[] => [...root.querySelectorAll(selector)].map((found) => found.textContent);
const button = (root: Element, text: string): HTMLButtonElement => {
  const found = [...root.querySelectorAll("button")].find((one) => one.textContent.includes(text));
  if (!found) throw new Error(`no button ${text} in ${root.innerHTML}`);
  return found;
};

describe("a result", () => {
  test("that is a list of objects is a table, a hundred rows at a time", () => {
    const shown = view(Array.from({ length: 150 }, (_, id) => ({ id, name: `n${id}` })));
    expect([texts(shown, "th"), shown.querySelectorAll("tbody tr").length]).toEqual([["id", "name"], 100]);
    button(shown, "Show 50 more of 150 rows").click();
    expect(shown.querySelectorAll("tbody tr")).toHaveLength(150);
  });

  test("with many columns shows ten, and the rest on demand", () => {
    const shown = view([Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`c${at}`, at]))]);
    expect(shown.querySelectorAll("th")).toHaveLength(10);
    button(shown, "Show 2 more columns").click();
    expect(shown.querySelectorAll("th")).toHaveLength(12);
  });

  test("that is an object with one list is that list, with the rest above it", () => {
    const shown = view({ total: 2, items: [{ id: 1 }], truncated: true });
    expect([texts(shown, ".nlui-badges li"), texts(shown, "td"), texts(shown, "p")]).toEqual([["total: 2"], ["1"], ["The model saw only these rows."]]);
  });

  test("that is a list of values is a row of badges, up to fifty", () => {
    const shown = view(Array.from({ length: 60 }, (_, at) => at));
    expect(shown.querySelectorAll("li")).toHaveLength(51);
    button(shown, "+10 more").click();
    expect(shown.querySelectorAll("li")).toHaveLength(60);
  });

  test.each([
    [[], "Empty list."],
    [{}, "Empty object."],
    [null, ""],
    [5, "5"],
    ["*text*", "text"],
  ])("that is %j says %j", (value, text) => {
    expect(view(value).textContent).toBe(text);
  });
});

test("the raw JSON is one click away, also of JSON in a string", () => {
  const shown = resultView('{"a":1}');
  const raw = shown.querySelector<HTMLElement>("pre");
  expect([raw?.hidden, texts(shown, "dt")]).toEqual([true, ["a"]]);
  button(shown, "Raw").click();
  expect([raw?.hidden, raw?.textContent, shown.querySelector("dl")?.hidden]).toEqual([false, '{\n  "a": 1\n}', true]);
  button(shown, "View").click();
  expect(raw?.hidden).toBe(true);
});

test("text that only looks like JSON stays text", () => {
  expect(resultView("{not json").textContent).toContain("{not json");
});

test("a result that was cut offers the rest", () => {
  expect(button(resultView({ handle: "0".repeat(32), items: [{ id: 1 }] }), "Show everything").disabled).toBe(false);
});
