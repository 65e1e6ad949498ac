/** What a table and the server say to each other; the other side is `element_rows.lua`. */
import type { Told, Value } from "./columns";

/** A row: its number, by which the server finds its object, then the value of each column. */
export type Row = readonly [number, ...Value[]];

export interface Group {
  readonly group: string;
  readonly count: number;
  readonly open: boolean;
  readonly totals: Readonly<Record<string, Value>>;
}

export interface Rows {
  readonly serial: number;
  readonly from: number;
  /** Rows and group headings that the query gives. */
  readonly length: number;
  readonly matching: number;
  readonly all: number;
  readonly columns: readonly Told[];
  readonly totals: Readonly<Record<string, Value>>;
  readonly rows: readonly (Row | Group)[];
}

export interface Edited {
  readonly row: number;
  readonly column: string;
  readonly problem: string | null;
}

export interface Query {
  sort: string;
  descending: boolean;
  search: string;
  filters: Record<string, string>;
  group: string;
  closed: string[];
}

export function isGroup(item: Row | Group): item is Group {
  return !Array.isArray(item);
}

/** How Lua gets a row as an argument: the object itself, or the text or number that is the row. */
export function reference(row: Row): unknown {
  return row[0] > 0 ? { obj: row[0] } : (row[1] ?? null);
}
