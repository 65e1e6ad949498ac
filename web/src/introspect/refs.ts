/** Gives elements stable uids and resolves references: by uid, else by canonical path. */

import { composedChildren, rootOf } from "./dom";

export interface NodeRef {
  uid?: string | null;
  path?: string | null;
}

export interface Refs {
  uidOf(element: Element): string;
  /** The element, or null; throws a StaleRowError for a row that shows another item than was reported to the caller. */
  resolve(ref: NodeRef): Element | null;
  /** Note what a row shows; it counts once it was reported. */
  readRow(uid: string, key: string): void;
  tell(uids: string[]): void;
}

export class StaleRowError extends Error {
  constructor(index: number, readonly now: string) {
    super(`Another item is at row ${index} now`);
  }
}

/** A row (`a12:r3`), a cell (`a12:r3:cprice`) or a column header (`a12:hprice`) of a control. */
export interface PartRef {
  control: string;
  row?: number;
  column?: string;
}

const SWEEP = 20_000;
const MOST_ROWS = 4000;

export function partOf(uid: string): PartRef | null {
  const found = /^([^:]+):(?:r(\d+)(?::c(.+))?|h(.+))$/.exec(uid);
  if (!found?.[1]) return null;
  const column = found[3] ?? found[4];
  return { control: found[1], ...(found[2] === undefined ? {} : { row: Number(found[2]) }), ...(column === undefined ? {} : { column }) };
}

/** Uids are `prefix` and a counter. Every document gets its own prefix, so a uid is never reused. */
export function createRefs(prefix: string): Refs {
  const uids = new WeakMap<Element, string>();
  const elements = new Map<string, WeakRef<Element>>();
  const read = new Map<string, string>();
  const reported = new Map<string, string>();
  let last = 0;
  let sweepAt = SWEEP;

  function sweep(): void {
    for (const [uid, held] of elements) {
      if (!held.deref()) elements.delete(uid);
    }
    sweepAt = Math.max(SWEEP, elements.size * 2);
  }

  function uidOf(element: Element): string {
    const known = uids.get(element);
    if (known !== undefined) return known;
    last += 1;
    const uid = `${prefix}${last}`;
    uids.set(element, uid);
    if (elements.size >= sweepAt) sweep();
    elements.set(uid, new WeakRef(element));
    return uid;
  }

  function resolve(ref: NodeRef): Element | null {
    const part = partOf(ref.uid ?? "");
    const element = elements.get(part?.control ?? ref.uid ?? "")?.deref();
    if (element?.isConnected) return part ? partIn(element, part) : element;
    return ref.path ? byPath(ref.path) : null;
  }

  function partIn(control: Element, part: PartRef): Element | null {
    if (part.row === undefined) return headOf(control, part.column ?? "");
    const row = rowsOf(control).find((entry) => entry.index === part.row)?.row ?? null;
    const before = reported.get(`${part.control}:r${part.row}`);
    if (row && before !== undefined && before !== keyOf(row)) throw new StaleRowError(part.row, row.textContent.trim().slice(0, 200));
    return row && part.column !== undefined ? cellOf(control, row, part.column) : row;
  }

  return {
    uidOf,
    resolve,
    readRow(uid, key) {
      put(read, uid, key);
    },
    tell(rows) {
      for (const uid of rows) {
        const key = read.get(uid);
        if (key !== undefined) put(reported, uid, key);
      }
    },
  };
}

function put(rows: Map<string, string>, uid: string, key: string): void {
  rows.delete(uid);
  rows.set(uid, key);
  for (const oldest of rows.keys()) {
    if (rows.size <= MOST_ROWS) break;
    rows.delete(oldest);
  }
}

/** What tells a row's item from others: the key that the author gave it, else its text. */
export function keyOf(row: Element): string {
  const given = ["row-id", "data-row-key", "data-id", "data-key"].map((name) => row.getAttribute(name)).find((value) => value !== null);
  return given ?? row.textContent.replace(/\s+/g, " ").trim();
}

/** The rows of a list, table or tree; those with ARIA roles know their index in the whole. */
export function rowsOf(control: Element): { index: number; row: Element }[] {
  if (control.localName === "table" && !control.querySelector("[role=row]")) {
    return [...control.querySelectorAll("tr")].filter((row) => row.querySelector("td")).map((row, index) => ({ index, row }));
  }
  return [...control.querySelectorAll("[role=row],[role=option],[role=treeitem]")]
    .filter((row) => !row.querySelector("[role=columnheader]") && !row.hasAttribute("data-totals"))
    .map((row, position) => ({ index: Number(row.getAttribute("aria-rowindex") ?? row.getAttribute("aria-posinset") ?? position + 1) - 1, row }));
}

/** The columns of a table or grid by their headers. */
export function columnsOf(control: Element): { id: string; text: string; head: Element }[] {
  return [...control.querySelectorAll("[role=columnheader],thead th")].map((head, at) => ({
    id: head.id || head.getAttribute("col-id") || `col${at}`, text: head.textContent.replace(/\s+/g, " ").trim(), head,
  }));
}

export function cellsOf(row: Element): Element[] {
  return [...row.querySelectorAll("[role=gridcell],[role=cell],[role=rowheader],td,tbody th")];
}

/** The id of a cell's column: the author's, else by position among the headers. */
export function columnId(cell: Element, at: number, columns: { id: string }[]): string {
  const own = cell.getAttribute("col-id");
  const stated = Number(cell.getAttribute("aria-colindex")) - 1;
  return own ?? columns[stated >= 0 ? stated : at]?.id ?? `col${at}`;
}

function cellOf(control: Element, row: Element, column: string): Element | null {
  const columns = columnsOf(control);
  const wanted = columns.find(({ id }) => id === column) ?? columns.find(({ text }) => text === column);
  return cellsOf(row).find((cell, at) => columnId(cell, at, columns) === (wanted?.id ?? column)) ?? null;
}

function headOf(control: Element, column: string): Element | null {
  const columns = columnsOf(control);
  return (columns.find(({ id }) => id === column) ?? columns.find(({ text }) => text === column))?.head ?? null;
}

function byPath(path: string): Element | null {
  const found = /^\/stages\[\d+\]\/scene\/root(.*)$/.exec(path);
  let element: Element | null = found ? rootOf(document) : null;
  for (const segment of (found?.[1] ?? "").split("/").filter(Boolean)) {
    const part = /^(.+)\[(\d+)\]$/.exec(segment);
    if (!element || !part) return null;
    const same: Element[] = composedChildren(element).filter((child) => child.localName === part[1]);
    element = same[Number(part[2])] ?? rowAt(element, part[1] ?? "", Number(part[2]));
  }
  return element;
}

/** A row of a control, which snapshots give the path `CONTROL/row[INDEX]`. */
function rowAt(control: Element, type: string, index: number): Element | null {
  return type === "row" ? rowsOf(control).find((entry) => entry.index === index)?.row ?? null : null;
}
