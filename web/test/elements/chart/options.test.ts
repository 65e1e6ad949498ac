import { expect, test } from "vitest";
import { optionsFor } from "../../../src/elements/chart/options";
import { plotOf } from "../../../src/elements/chart/points";

const look = { palette: ["#00f"], text: "#111", muted: "#666", border: "#ccc", surface: "#fff", font: "sans" };
const points = { names: ["day", "hour", "n"], columns: [["Mon", "Tue", "Mon"], ["1", "1", "2"], [3, 4, 5]] };
const asked = { unit: "", min: null, max: null, horizontal: false, zoom: false, by: "hour", width: 600, height: 288 };
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

const numbered = (type: string, xs: readonly number[], more: object = {}) => {
  const sent = { names: ["x", "y"], columns: [xs, xs.map((x) => x / 2)] };
  return optionsFor(sent, plotOf(sent, { x: "x", series: [] }), { ...asked, type, ...more }, look) as unknown as Record<string, { type: string; axisLabel: { formatter: (value: number) => string } }> & { series: { data: ArrayLike<number> }[] };
};

test("points with uneven numbers, and those of a scatter, lie where their numbers are", () => {
  expect(numbered("line", [1, 2, 3])["xAxis"]?.type).toBe("category");
  const years = numbered("line", [1990, 2010, 2015]);
  expect([years["xAxis"]?.type, years["xAxis"]?.axisLabel.formatter(2010), years["xAxis"]?.axisLabel.formatter(25000)]).toEqual(["value", "2010", "25,000"]);
  expect(Array.from(years.series[0]?.data ?? [])).toEqual([1990, 995, 2010, 1005, 2015, 1007.5]);
  expect(numbered("scatter", [1, 2, 3])["xAxis"]?.type).toBe("value");
  expect(numbered("bar", [1990, 2010, 2015])["xAxis"]?.type).toBe("category");
});

test("many points are handed over as numbers in one array", () => {
  const xs = Array.from({ length: 200 }, (_, at) => at);
  expect(Array.from(numbered("line", xs).series[0]?.data ?? []).slice(0, 6)).toEqual([0, 0, 1, 0.5, 2, 1]);
  expect(Array.from(numbered("bar", xs, { horizontal: true }).series[0]?.data ?? []).slice(0, 6)).toEqual([0, 0, 0.5, 1, 1, 2]);
});

test("an axis of many numbers has no place for each, and nothing moves there", () => {
  const found = (count: number) => {
    const made = numbered("line", Array.from({ length: count }, (_, at) => at)) as Record<string, unknown>;
    return [(made["xAxis"] as { type: string }).type, made["animation"]];
  };
  expect(found(200)).toEqual(["value", false]);
  expect(found(3)).toEqual(["category", true]);
});

interface Labelled {
  readonly splitNumber?: number;
  readonly axisLabel?: { readonly interval?: number; readonly width?: number };
  readonly series?: { readonly label?: { readonly position?: string } }[];
}

test("each of a few bars is named, whatever the width", () => {
  const { axisLabel } = made("bar", { width: 360 })["xAxis"] as unknown as Labelled;
  expect(axisLabel).toMatchObject({ interval: 0, overflow: "break" });
  expect(axisLabel?.width).toBeLessThan(144);
});

test("a low chart has fewer steps, so that their numbers do not overlap", () => {
  expect((made("line", { height: 96 })["yAxis"] as unknown as Labelled).splitNumber).toBe(1);
  expect((made("line")["yAxis"] as unknown as Labelled).splitNumber).toBe(5);
});

test("the parts of a narrow circle are labelled inside", () => {
  const position = (width: number) => (made("donut", { width }) as unknown as Labelled).series?.[0]?.label?.position;
  expect([position(360), position(600)]).toEqual(["inside", undefined]);
});

test("a label inside a narrow circle is a whole percentage, and a thin part has none", () => {
  const options = made("donut", { width: 360 }) as unknown as { series: { label: { formatter: (part: { percent: number }) => string } }[] };
  expect([44.64, 3].map((percent) => options.series[0]?.label.formatter({ percent }))).toEqual(["45%", ""]);
});
