import { describe, expect, test } from "vitest";
import { element, openApp } from "./open_app";

const LIST = '<template><ul data-ui-b="0 ui-viewlist" ui-viewlist="rows"><li class="row"></li></ul></template>';
const ROW = '<template><li data-ui-b="0 ui-value" ui-value="name"></li></template>';
const rows = (): (string | null)[] => [...element("ul").querySelectorAll("li.row")].map((row) => row.textContent);

describe("a list", () => {
  test("shows its rows, each with the class of the exemplar, and repeats a key given as 0", () => {
    const { show } = openApp({ "A.DEFAULT": LIST, "R.DEFAULT": ROW });
    show(1, "A.DEFAULT", [[[2, "R.DEFAULT", ["one"]], [3, 0, ["two"]]]]);
    expect(rows()).toEqual(["one", "two"]);
  });

  test("grows and shrinks, and changes one row alone", () => {
    const { say, show } = openApp({ "A.DEFAULT": LIST, "R.DEFAULT": ROW });
    show(1, "A.DEFAULT", [[[2, "R.DEFAULT", ["one"]], [3, "R.DEFAULT", ["two"]]]]);
    const first = element("li");
    show(4, "R.DEFAULT", ["three"], { parent: 1, slot: 0, index: 2 });
    say([3, 0, "zwei"]);
    expect(rows()).toEqual(["one", "zwei", "three"]);
    expect(element("li")).toBe(first);
    say([1, 0, 1]);
    expect(rows()).toEqual(["one"]);
  });

  test("takes rows out and puts rows in between and keeps the elements of the others", () => {
    const { say, show } = openApp({ "A.DEFAULT": LIST, "R.DEFAULT": ROW });
    show(1, "A.DEFAULT", [[[2, "R.DEFAULT", ["one"]], [3, 0, ["two"]], [4, 0, ["three"]]]]);
    const last = element("ul").lastElementChild;
    say([1, 0, { splice: [0, 2, 0] }]);
    expect(rows()).toEqual(["three"]);
    say([1, 0, { splice: [0, 0, 1] }]);
    show(5, "R.DEFAULT", ["new"], { parent: 1, slot: 0, index: 0 });
    expect(rows()).toEqual(["new", "three"]);
    expect(element("ul").lastElementChild).toBe(last);
  });
});

describe("a list that loses all its rows", () => {
  const values = [[[2, "R.DEFAULT", ["one"]], [3, 0, ["two"]]]];

  test("is emptied, and its rows hear of nothing more", () => {
    const { app, say, show } = openApp({ "A.DEFAULT": LIST, "R.DEFAULT": ROW });
    show(1, "A.DEFAULT", values);
    say([1, 0, 0]);
    expect([element("ul").childNodes.length, [...app.views.keys()]]).toEqual([0, [1]]);
  });

  test("keeps what a script has put beside them", () => {
    const { say, show } = openApp({ "A.DEFAULT": LIST, "R.DEFAULT": ROW });
    show(1, "A.DEFAULT", values);
    element("ul").append("own text");
    say([1, 0, { splice: [0, 2, 0] }]);
    expect(element("ul").textContent).toBe("own text");
  });
});

describe("a windowed list", () => {
  const values = (from: number, ...numbers: readonly number[]): unknown => ({ length: 100, from, rows: numbers.map((number) => [number, "R.DEFAULT", [`row ${number}`]]) });

  test("stands for its full length", () => {
    const { show } = openApp({ "A.DEFAULT": LIST, "R.DEFAULT": ROW });
    show(1, "A.DEFAULT", [values(0, 10, 11)]);
    expect([rows(), element("ul").getAttribute("aria-rowcount")]).toEqual([["row 10", "row 11"], "100"]);
    expect([...element("ul").children].map((child) => child.getAttribute("aria-hidden"))).toEqual(["true", null, null, "true"]);
  });

  test("moves on and keeps the rows that stay", () => {
    const { say, show } = openApp({ "A.DEFAULT": LIST, "R.DEFAULT": ROW });
    show(1, "A.DEFAULT", [values(0, 10, 11)]);
    const kept = [...element("ul").querySelectorAll("li.row")][1];
    say([1, 0, { length: 100, from: 1, rows: [11, [12, "R.DEFAULT", ["row 12"]]] }]);
    expect(rows()).toEqual(["row 11", "row 12"]);
    expect(element("ul").querySelector("li.row")).toBe(kept);
  });

  test("replaces a list that was complete", () => {
    const { say, show } = openApp({ "A.DEFAULT": LIST, "R.DEFAULT": ROW });
    show(1, "A.DEFAULT", [[[2, "R.DEFAULT", ["one"]]]]);
    say([1, 0, values(5, 20)]);
    expect(rows()).toEqual(["row 20"]);
  });

  test("asks for the rows that scroll into view", async () => {
    const { sent, show } = openApp({ "A.DEFAULT": LIST, "R.DEFAULT": ROW });
    show(1, "A.DEFAULT", [values(0, 10, 11)]);
    const top = element("ul").firstElementChild;
    if (top === null) throw new Error("no spacer");
    top.getBoundingClientRect = () => new DOMRect(0, -32 * 60, 10, 0);
    document.dispatchEvent(new Event("scroll"));
    await new Promise((resolve) => requestAnimationFrame(resolve));
    await new Promise((resolve) => setTimeout(resolve));
    const seen = Math.ceil(window.innerHeight / 32) + 1;
    expect(sent.at(-1)).toEqual([1, 0, [Math.min(100 - 2 * seen, 60 - Math.floor(seen / 2)), 2 * seen]]);
  });
});
