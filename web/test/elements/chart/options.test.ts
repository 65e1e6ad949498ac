import { expect, test } from "vitest";
import { optionsFor } from "../../../src/elements/chart/options";
import { plotOf } from "../../../src/elements/chart/points";

const look = { palette: ["#00f"], text: "#111", muted: "#666", border: "#ccc", surface: "#fff", font: "sans" };
const points = { names: ["day", "hour", "n"], rows: [["Mon", "1", 3], ["Tue", "1", 4], ["Mon", "2", 5]] };
const asked = { unit: "", min: null, max: null, horizontal: false, zoom: false, by: "hour" };
const made = (type: string, more: object = {}) => optionsFor(points, plotOf(points, { x: "day", series: ["n"] }), { ...asked, type, ...more }, look) as Record<string, { type: string; stack?: string; data: unknown }[]>;

test.each([["line", "line"], ["area", "line"], ["bar", "bar"], ["stacked", "bar"], ["pie", "pie"], ["donut", "pie"], ["scatter", "scatter"], ["heatmap", "heatmap"], ["sparkline", "line"], ["gauge", "gauge"]])(
  "a chart of type %s is drawn as %s",
  (type, drawn) => expect(made(type)["series"]?.map((one) => one.type)).toEqual([drawn]),
);

test("a heat map has a place for each pair", () => {
  expect(made("heatmap")["series"]?.[0]?.data).toEqual([[0, 0, 3], [1, 0, 4], [0, 1, 5]]);
});

test("stacked bars share a stack, lying ones change the axes", () => {
  expect(made("stacked")["series"]?.[0]?.stack).toBe("all");
  expect(made("bar", { horizontal: true })["yAxis"]).toMatchObject({ type: "category" });
  expect(made("line", { zoom: true })["dataZoom"]).toHaveLength(2);
});

test("the unit is on the axis of numbers: with each if it is short, else once", () => {
  const axis = (more: object, name = "yAxis") => (made("bar", more) as unknown as Record<string, { name?: string; axisLabel: { formatter?: (value: number) => string } }>)[name];
  expect(axis({ unit: "€" })?.axisLabel.formatter?.(1500.5)).toBe("1,500.5 €");
  expect(axis({ unit: "€", horizontal: true }, "xAxis")?.axisLabel.formatter?.(2)).toBe("2 €");
  expect([axis({ unit: "requests/s" })?.name, axis({ unit: "requests/s" })?.axisLabel.formatter]).toEqual(["requests/s", undefined]);
});
