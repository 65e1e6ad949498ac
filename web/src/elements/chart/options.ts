/** The options of ECharts for each type of chart; pure, apart from the colours it is given. */
import type { EChartsCoreOption } from "echarts/core";
import { column, greatest, least, type Plot, type Points, type Series, withUnit } from "./points";

export interface Look {
  readonly palette: readonly string[];
  readonly text: string;
  readonly muted: string;
  readonly border: string;
  readonly surface: string;
  readonly font: string;
}

export interface Asked {
  readonly type: string;
  readonly unit: string;
  readonly min: number | null;
  readonly max: number | null;
  readonly horizontal: boolean;
  readonly zoom: boolean;
  readonly by: string;
  /** The room there is, in pixels. */
  readonly width: number;
  readonly height: number;
}

/** A longer unit is written once, above the axis. */
const SHORT_UNIT = 3;
/** With more points nothing moves and no point has a mark: drawing a frame takes as long as a change. */
const LONG = 100;
/** So many names of bars stand below them, over several lines if need be. */
const FEW_NAMES = 8;
/** What the axis of numbers takes of the width, and a line of numbers of the height. */
const AXIS_WIDTH = 72;
const NUMBER_HEIGHT = 30;
/** A narrower chart has no room beside a circle for the names of its parts. */
const NARROW = 420;
const THIN_PERCENT = 6;
/** Made once: `toLocaleString` makes one for each number of an axis, several times for each picture. */
const NUMBER = new Intl.NumberFormat(undefined, { maximumFractionDigits: 10 });
const YEAR = new Intl.NumberFormat(undefined, { maximumFractionDigits: 10, useGrouping: false });
const ANIMATION = { animationDuration: 300, animationDurationUpdate: 200 };

export function optionsFor(points: Points, plot: Plot, asked: Asked, look: Look): EChartsCoreOption {
  const common = { ...ANIMATION, color: [...look.palette], textStyle: { fontFamily: look.font, color: look.text }, tooltip: tooltip(asked, look) };
  switch (asked.type) {
    case "pie":
    case "donut":
      return { ...common, ...round(plot, asked, look) };
    case "gauge":
      return { ...common, ...gauge(plot, asked, look) };
    case "heatmap":
      return { ...common, ...heatmap(points, plot, asked, look) };
    case "sparkline":
      return { ...common, ...sparkline(plot) };
    default:
      return { ...common, ...cartesian(plot, asked, look) };
  }
}

function isLong({ places }: Plot): boolean {
  return places.length > LONG;
}

function tooltip({ type, unit }: Asked, look: Look): object {
  return {
    trigger: ["line", "area", "bar", "stacked", "sparkline", ""].includes(type) ? "axis" : "item",
    confine: true,
    backgroundColor: look.surface,
    borderColor: look.border,
    textStyle: { color: look.text, fontSize: 13 },
    valueFormatter: (value: unknown) => withUnit(typeof value === "number" ? value : null, unit),
  };
}

function legend(look: Look): object {
  return { type: "scroll", top: 0, icon: "roundRect", itemWidth: 12, itemHeight: 8, textStyle: { color: look.text }, pageTextStyle: { color: look.muted } };
}

function axisLook(look: Look): object {
  return {
    axisLabel: { color: look.muted, hideOverlap: true },
    axisLine: { lineStyle: { color: look.border } },
    axisTick: { show: false },
    splitLine: { lineStyle: { color: look.border, opacity: 0.6 } },
  };
}

function cartesian(plot: Plot, asked: Asked, look: Look): object {
  const { type, horizontal, min, max, zoom } = asked;
  const at = positions(plot, type);
  const places = at === null ? namedPlaces(plot, asked, look) : numberedPlaces(type, look);
  const numbers = { type: "value", scale: type === "scatter" || type === "line" || type === "", min: min ?? undefined, max: max ?? undefined, splitNumber: splits(asked), ...axisLook(look), ...unitOf(asked, look) };
  const many = plot.series.length > 1;
  const named = asked.unit.length > SHORT_UNIT;
  return {
    animation: !isLong(plot),
    legend: many ? legend(look) : undefined,
    grid: { left: 8, top: (many ? 36 : 14) + (named ? 18 : 0), right: horizontal && named ? 48 : 16, bottom: zoom ? 48 : 8, containLabel: true },
    xAxis: horizontal ? numbers : places,
    yAxis: horizontal ? { ...places, inverse: true } : numbers,
    dataZoom: zoom ? [{ type: "inside" }, { type: "slider", height: 22, bottom: 8, borderColor: look.border, textStyle: { color: look.muted } }] : undefined,
    series: plot.series.map((one) => seriesFor(one, dataOf(one, at, horizontal), type, plot.series.length)),
  };
}

/** The unit on the axis of numbers. */
function unitOf({ unit }: Asked, look: Look): object {
  if (unit === "" || unit.length > SHORT_UNIT) {
    return { name: unit, nameTextStyle: { color: look.muted, align: "left" } };
  }
  return { axisLabel: { color: look.muted, hideOverlap: true, formatter: (value: number) => `${NUMBER.format(value)} ${unit}` } };
}

/** About how many steps the axis of numbers has room for. */
function splits({ horizontal, width, height }: Asked): number {
  return Math.max(1, Math.min(5, Math.floor(horizontal ? width / 70 : (height - 50) / NUMBER_HEIGHT)));
}

function namedPlaces({ places }: Plot, { type, horizontal, width }: Asked, look: Look): object {
  const bars = type === "bar" || type === "stacked";
  const every = bars && !horizontal && places.length <= FEW_NAMES;
  const axisLabel = { color: look.muted, hideOverlap: !every, ...(every && { interval: 0, overflow: "break", lineHeight: 15, width: Math.max(24, (width - AXIS_WIDTH) / places.length - 6) }) };
  return { type: "category", data: [...places], boundaryGap: bars, ...axisLook(look), axisLabel, splitLine: { show: false } };
}

function numberedPlaces(type: string, look: Look): object {
  const ends = type === "scatter" ? { scale: true } : { min: "dataMin", max: "dataMax" };
  return { type: "value", ...ends, ...axisLook(look), axisLabel: { color: look.muted, hideOverlap: true, formatter: axisNumber }, splitLine: { show: type === "scatter", lineStyle: { color: look.border, opacity: 0.6 } } };
}

/** Where points are on an axis of numbers; null if the axis has a place for each point: thousands of places take long. */
function positions(plot: Plot, type: string): readonly number[] | null {
  const { numbers } = plot;
  if (numbers === null || !["line", "area", "scatter", ""].includes(type)) {
    return null;
  }
  return type === "scatter" || isLong(plot) || uneven(numbers) ? numbers : null;
}

function uneven(numbers: readonly number[]): boolean {
  return numbers.some((value, at) => at > 1 && Math.abs(value - 2 * (numbers[at - 1] ?? 0) + (numbers[at - 2] ?? 0)) > 1e-9 * Math.abs(value));
}

/** A number on the axis of places; four digits are mostly a year, which is written without a separator. */
function axisNumber(value: number): string {
  return (Math.abs(value) >= 10_000 ? NUMBER : YEAR).format(value);
}

/** Points as ECharts takes them. It copies lists and looks into each item; numbers in one typed array it uses as they are. */
function dataOf({ values }: Series, positions: readonly number[] | null, horizontal: boolean): readonly (number | null)[] | Float64Array {
  if (positions === null && values.length <= LONG) {
    return values;
  }
  const data = new Float64Array(values.length * 2);
  values.forEach((value, at) => {
    data[at * 2 + (horizontal ? 1 : 0)] = positions === null ? at : (positions[at] ?? NaN);
    data[at * 2 + (horizontal ? 0 : 1)] = value ?? NaN;
  });
  return data;
}

function seriesFor({ name, values }: Series, data: readonly (number | null)[] | Float64Array, type: string, count: number): object {
  const long = values.length > LONG;
  switch (type) {
    case "bar":
    case "stacked":
      return { name, type: "bar", data, stack: type === "stacked" ? "all" : undefined, barMaxWidth: 42, itemStyle: { borderRadius: type === "bar" ? [4, 4, 0, 0] : 0 }, large: long };
    case "scatter":
      return { name, type: "scatter", data, symbolSize: 9, large: values.length > 2000 };
    default:
      return { name, type: "line", data, showSymbol: !long, symbolSize: 6, sampling: "lttb", smooth: long ? 0 : 0.2, areaStyle: type === "area" ? { opacity: count > 1 ? 0.25 : 0.18 } : undefined, stack: undefined };
  }
}

/** What fits into the ring of a phone's donut: a whole percentage, and nothing in a thin slice. */
function insideLabel({ percent = 0 }: { readonly percent?: number }): string {
  return percent < THIN_PERCENT ? "" : `${Math.round(percent)}%`;
}

/** A row for each part; with one row, its series are the parts. */
function round(plot: Plot, { type, width }: Asked, look: Look): object {
  const [only] = plot.series;
  const parts = plot.places.length === 1 ? plot.series.map(({ name, values }) => ({ name, value: values[0] })) : plot.places.map((name, at) => ({ name, value: only?.values[at] }));
  return {
    legend: legend(look),
    series: [{
      type: "pie", radius: type === "donut" ? ["48%", "74%"] : "74%", top: 28, data: parts,
      itemStyle: { borderColor: look.surface, borderWidth: 2 }, label: width < NARROW ? { position: "inside", color: look.surface, fontWeight: 600, formatter: insideLabel } : { color: look.text, lineHeight: 16, formatter: "{b}\n{d} %" },
    }],
  };
}

function gauge({ series }: Plot, { min, max, unit }: Asked, look: Look): object {
  return {
    series: [{
      type: "gauge", min: min ?? 0, max: max ?? 100, startAngle: 210, endAngle: -30,
      progress: { show: true, width: 14, roundCap: true }, axisLine: { lineStyle: { width: 14, color: [[1, look.border]] }, roundCap: true },
      pointer: { show: false }, axisTick: { show: false }, splitLine: { show: false }, axisLabel: { color: look.muted, distance: 20 },
      detail: { color: look.text, fontSize: 24, offsetCenter: [0, "10%"], formatter: (value: number) => withUnit(value, unit) },
      title: { color: look.muted, offsetCenter: [0, "45%"] },
      data: series.slice(0, 1).map(({ name, values }) => ({ value: values.at(-1), name: name === "value" ? "" : name })),
    }],
  };
}

function heatmap(points: Points, plot: Plot, { by, unit }: Asked, look: Look): object {
  const others = column(points, by).map((cell) => String(cell ?? ""));
  const ys = [...new Set(others)];
  const xs = [...new Set(plot.places)];
  const [values] = plot.series;
  const numbers = (values?.values ?? []).filter((value) => value !== null);
  return {
    grid: { left: 8, right: 16, top: 14, bottom: 64, containLabel: true },
    xAxis: { type: "category", data: xs, ...axisLook(look) },
    yAxis: { type: "category", data: ys, ...axisLook(look) },
    visualMap: { min: least(numbers), max: greatest(numbers), calculable: true, orient: "horizontal", left: "center", bottom: 0, itemWidth: 14, itemHeight: 100, formatter: (value: unknown) => withUnit(Number(value), unit), textStyle: { color: look.muted }, inRange: { color: [look.surface, look.palette[0] ?? look.text] } },
    series: [{
      name: values?.name, type: "heatmap",
      data: plot.places.map((place, at) => [xs.indexOf(place), ys.indexOf(others[at] ?? ""), values?.values[at] ?? null]),
    }],
  };
}

function sparkline(plot: Plot): object {
  return {
    animation: !isLong(plot),
    grid: { left: 2, right: 2, top: 4, bottom: 4 },
    xAxis: { type: "category", show: false, data: [...plot.places], boundaryGap: false },
    yAxis: { type: "value", show: false, scale: true },
    series: plot.series.map((one) => ({ name: one.name, type: "line", data: dataOf(one, null, false), showSymbol: false, sampling: "lttb", areaStyle: { opacity: 0.15 } })),
  };
}
