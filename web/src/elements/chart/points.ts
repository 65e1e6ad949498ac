/** The points of a chart as the server sends them; the other side is `element_points.lua`. */

export type Cell = string | number | boolean | null;

export interface Points {
  readonly names: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

/** What the server sends: all points, or those that came and went since. */
export type Sent = Points | { readonly drop: number; readonly append: Points["rows"] };

export function received(now: Points | null, sent: Sent): Points | null {
  if ("rows" in sent) {
    return sent;
  }
  return now && { names: now.names, rows: [...now.rows.slice(sent.drop), ...sent.append] };
}

export interface Series {
  readonly name: string;
  readonly values: readonly (number | null)[];
}

export interface Plot {
  /** The places on the axis; null if both axes are of numbers. */
  readonly places: readonly string[];
  readonly series: readonly Series[];
}

/** Which name is on the axis: the one that was asked for, else the first with texts, else `x`. */
export function axisName({ names, rows }: Points, asked: string): string | null {
  if (asked !== "") {
    return names.includes(asked) ? asked : null;
  }
  const texts = names.find((_, at) => rows.some((row) => typeof row[at] === "string"));
  return texts ?? (names.length > 1 && names.includes("x") ? "x" : null);
}

export function plotOf(points: Points, asked: { readonly x: string; readonly series: readonly string[] }): Plot {
  const axis = axisName(points, asked.x);
  const at = axis === null ? -1 : points.names.indexOf(axis);
  const numeric = points.names.filter((name, index) => name !== axis && points.rows.some((row) => typeof row[index] === "number"));
  const wanted = asked.series.length > 0 ? asked.series.filter((name) => points.names.includes(name)) : numeric;
  return {
    places: points.rows.map((row, index) => (at < 0 ? String(index + 1) : String(row[at] ?? ""))),
    series: wanted.map((name) => ({ name, values: column(points, name) })),
  };
}

export function column({ names, rows }: Points, name: string): (number | null)[] {
  const at = names.indexOf(name);
  return rows.map((row) => (typeof row[at] === "number" ? row[at] : null));
}

/** One point in words. */
export function described({ places, series }: Plot, index: number, unit: string): string {
  const values = series.map(({ name, values: all }) => `${series.length === 1 && name === "value" ? "" : `${name} `}${withUnit(all[index] ?? null, unit)}`);
  return `${places[index] ?? ""}: ${values.join(", ")}`;
}

/** The whole chart in a sentence. */
export function summary(type: string, label: string, { series, places }: Plot, unit: string): string {
  const parts = series.map(({ name, values }) => {
    const numbers = values.filter((value) => value !== null);
    const range = numbers.length === 0 ? "no values" : `${withUnit(least(numbers), unit)} to ${withUnit(greatest(numbers), unit)}`;
    return `${name} ${range}`;
  });
  return `${label}: ${type} chart, ${places.length} points; ${parts.join("; ")}`;
}

export function least(values: readonly number[]): number {
  return values.reduce((a, b) => Math.min(a, b), Infinity);
}

export function greatest(values: readonly number[]): number {
  return values.reduce((a, b) => Math.max(a, b), -Infinity);
}

export function withUnit(value: number | null, unit: string): string {
  if (value === null) {
    return "none";
  }
  const text = value.toLocaleString(undefined, { maximumFractionDigits: 2 });
  return unit === "" ? text : `${text} ${unit}`;
}
