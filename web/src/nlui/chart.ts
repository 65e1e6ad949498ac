/** Charts of results and answers: the element `ui-chart`, which is loaded when the first one is shown. */
import { make } from "./dom";

type Row = Readonly<Record<string, unknown>>;
type Cell = string | number | boolean | null;

const ELEMENT = "/nlui/elements/chart.js";
const TYPES = new Set(["line", "area", "bar", "stacked", "pie", "donut", "scatter"]);
const POINTS = 5000;

export interface ChartOptions {
  readonly type?: unknown;
  readonly label?: unknown;
  readonly x?: unknown;
  readonly series?: unknown;
  readonly unit?: unknown;
}

/** Whether rows have numbers to draw. */
export function isChartable(rows: readonly Row[]): boolean {
  return rows.length > 1 && rows.some((row) => Object.values(row).some((value) => typeof value === "number"));
}

export function chartView(rows: readonly Row[], options: ChartOptions = {}, load: () => Promise<unknown> = loadElement): HTMLElement {
  const place = make("div.nlui-chart", {}, make("p.nlui-dim", { role: "status" }, "Loading…"));
  load().then(
    () => {
      const chart = document.createElement("ui-chart") as HTMLElement & { value: unknown };
      Object.entries(attributesOf(options)).forEach(([name, value]) => chart.setAttribute(name, value));
      place.replaceChildren(chart);
      chart.value = pointsOf(rows);
    },
    () => place.replaceChildren(make("p.nlui-dim", {}, "The chart could not be loaded. Reload the page.")),
  );
  return place;
}

function loadElement(): Promise<unknown> {
  return import(/* @vite-ignore */ ELEMENT);
}

function attributesOf({ type, label, x, series, unit }: ChartOptions): Record<string, string> {
  const names = Array.isArray(series) ? series.filter((name) => typeof name === "string").join(" ") : series;
  const given = Object.entries({ label, x, series: names, unit }).filter((entry): entry is [string, string] => typeof entry[1] === "string" && entry[1] !== "");
  return { label: "Chart", ...Object.fromEntries(given), type: typeof type === "string" && TYPES.has(type) ? type : "bar", download: "" };
}

/** The values that a chart can draw; what is nested is left out. */
export function pointsOf(rows: readonly Row[]): { readonly names: readonly string[]; readonly columns: readonly (readonly Cell[])[] } {
  const shown = rows.slice(0, POINTS);
  const names = [...new Set(shown.flatMap((row) => Object.keys(row).filter((name) => isCell(row[name]))))];
  return { names, columns: names.map((name) => shown.map((row) => (isCell(row[name]) ? row[name] : null))) };
}

function isCell(value: unknown): value is Cell {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}
