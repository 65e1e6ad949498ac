/** The points of a chart as the server sends them; the other side is `element_points.lua`. */

export type Cell = string | number | boolean | null;

/** A column for each name; all are equally long. */
export interface Points {
  readonly names: readonly string[];
  readonly columns: readonly (readonly Cell[])[];
}

/** What the server sends: all points, or those that came and went since. */
export type Sent = Points | { readonly drop: number; readonly append: Points["columns"] };

export function received(now: Points | null, sent: Sent): Points | null {
  if ("columns" in sent) {
    return sent;
  }
  return now && { names: now.names, columns: now.columns.map((column, at) => column.slice(sent.drop).concat(sent.append[at] ?? [])) };
}

export function countOf({ columns }: Points): number {
  return columns[0]?.length ?? 0;
}

/** One point as a table of its names, or as its number. */
export function pointAt({ names, columns }: Points, index: number): Cell | Readonly<Record<string, Cell>> {
  const cells = columns.map((column) => column[index] ?? null);
  return names.length === 1 && names[0] === "value" ? (cells[0] ?? null) : Object.fromEntries(names.map((name, at) => [name, cells[at] ?? null]));
}

export interface Series {
  readonly name: string;
  readonly values: readonly (number | null)[];
}

export interface Plot {
  /** The places on the axis. */
  readonly places: readonly string[];
  /** The same as numbers, if all are. */
  readonly numbers: readonly number[] | null;
  readonly series: readonly Series[];
}

/** Which name is on the axis: the one that was asked for, else the first with texts, else `x`. */
export function axisName({ names, columns }: Points, asked: string): string | null {
  if (asked !== "") {
    return names.includes(asked) ? asked : null;
  }
  const texts = names.find((_, at) => columns[at]?.some((cell) => typeof cell === "string"));
  return texts ?? (names.length > 1 && names.includes("x") ? "x" : null);
}

export function plotOf(points: Points, asked: { readonly x: string; readonly series: readonly string[] }): Plot {
  const axis = axisName(points, asked.x);
  const numeric = points.names.filter((name) => name !== axis && column(points, name).some((cell) => typeof cell === "number"));
  const wanted = asked.series.length > 0 ? asked.series.filter((name) => points.names.includes(name)) : numeric;
  const axisCells = axis === null ? Array.from({ length: countOf(points) }, (_, index) => index + 1) : column(points, axis);
  return {
    places: axisCells.map((cell) => String(cell ?? "")),
    numbers: axisCells.every((cell) => typeof cell === "number") ? axisCells : null,
    series: wanted.map((name) => ({ name, values: column(points, name).map((cell) => (typeof cell === "number" ? cell : null)) })),
  };
}

export function column({ names, columns }: Points, name: string): readonly Cell[] {
  return columns[names.indexOf(name)] ?? [];
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

/** Made once: `toLocaleString` makes one for each call, which takes longer than to draw the point. */
const number = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });

export function withUnit(value: number | null, unit: string): string {
  if (value === null) {
    return "none";
  }
  const text = number.format(value);
  return unit === "" ? text : `${text} ${unit}`;
}
