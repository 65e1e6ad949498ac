import { expect, test } from "vitest";
import { axisName, described, plotOf, pointAt, received, summary } from "../../../src/elements/chart/points";

const points = { names: ["food", "month", "travel"], columns: [[3, 4], ["Jan", "Feb"], [5, null]] };

test("points that came and went change what is there", () => {
  const after = received(points, { drop: 1, append: [[9], ["Mar"], [1]] });
  expect(after?.columns).toEqual([[4, 9], ["Feb", "Mar"], [null, 1]]);
  expect(after && pointAt(after, 0)).toEqual({ food: 4, month: "Feb", travel: null });
  expect(pointAt({ names: ["value"], columns: [[7, 8]] }, 1)).toBe(8);
  expect(received(null, { drop: 0, append: [] })).toBeNull();
  expect(received(after, points)).toBe(points);
});

test("the name with texts is the axis, names with numbers are the series", () => {
  expect(axisName(points, "")).toBe("month");
  expect(plotOf(points, { x: "", series: [] })).toEqual({
    places: ["Jan", "Feb"],
    numbers: null,
    series: [{ name: "food", values: [3, 4] }, { name: "travel", values: [5, null] }],
  });
  expect(plotOf(points, { x: "month", series: ["travel"] }).series.map(({ name }) => name)).toEqual(["travel"]);
  expect(plotOf({ names: ["value"], columns: [[7, 8]] }, { x: "", series: [] }).places).toEqual(["1", "2"]);
});

test("a chart and a point can be said in words", () => {
  const plot = plotOf(points, { x: "", series: [] });
  expect(described(plot, 1, "€")).toBe("Feb: food 4 €, travel none");
  expect(summary("line", "Spending", plot, "")).toBe("Spending: line chart, 2 points; food 3 to 4; travel 5 to 5");
});
