/** Describes the rows of lists, tables and trees, and scrolls to rows that a page has not rendered. */

import { cellsOf, columnId, columnsOf, keyOf, partOf, rowsOf, type NodeRef, type Refs } from "./refs";
import { clean } from "./accessible_text";

type Fields = Record<string, unknown>;

const LISTS = new Set(["listbox", "tree"]);
const GRIDS = new Set(["grid", "treegrid", "table"]);

/** The virtualization section of an element; null if it is no list, table or tree. */
export function describeRows(refs: Refs, element: Element, secret: boolean): Fields | null {
  const role = element.getAttribute("role") ?? (element.localName === "table" ? "table" : "");
  if (!LISTS.has(role) && !GRIDS.has(role)) return null;
  const rows = rowsOf(element);
  const stated = element.getAttribute("aria-rowcount") ?? rows[0]?.row.getAttribute("aria-setsize");
  if (!stated && !isDataTable(element, role, rows.length)) return null;
  const columns = GRIDS.has(role) ? columnsOf(element).map(({ id, text }) => ({ id, text: clean(text) })) : [];
  const uid = refs.uidOf(element);
  for (const { index, row } of rows) refs.readRow(`${uid}:r${index}`, keyOf(row));
  const first = rows[0];
  const last = rows.at(-1);
  return {
    kind: role, itemsCount: Number(stated ?? rows.length), columns,
    visibleRange: first && last ? { from: first.index, to: last.index } : null,
    selectedIndices: rows.filter(({ row }) => row.getAttribute("aria-selected") === "true").map(({ index }) => index),
    focusedIndex: rows.find(({ row }) => row.contains(document.activeElement))?.index ?? null,
    visibleCells: secret ? [] : rows.map(({ index, row }) => ({ index, cells: cells(row, columns), uid: refs.uidOf(row), ...states(row) })),
  };
}

/** Whether a table without a stated size holds rows and columns of data, rather than laying out a form. */
function isDataTable(element: Element, role: string, rows: number): boolean {
  return GRIDS.has(role) && rows > 1 && !element.querySelector("table") && columnsOf(element).length > 1;
}

function cells(row: Element, columns: { id: string }[]): Fields[] {
  const found = cellsOf(row);
  if (!found.length) return [{ columnId: null, text: clean(row.textContent) }];
  return found.map((cell, at) => ({ columnId: columnId(cell, at, columns), text: clean((cell as HTMLElement).innerText) || drawn(cell) }));
}

function states(row: Element): Fields {
  const [level, expanded, checked] = ["aria-level", "aria-expanded", "aria-checked"].map((name) => row.getAttribute(name));
  return {
    ...(level ? { level: Number(level) - 1 } : {}),
    ...(expanded ? { expanded: expanded === "true" } : {}),
    ...(checked ? { checked: checked === "true" } : {}),
  };
}

const TRIES = 12;

/** Scroll a control until it has rendered a row; virtualized ones render only what is in view. */
export async function renderRow(control: Element, index: number): Promise<Element | null> {
  const found = () => rowsOf(control).find((entry) => entry.index === index)?.row ?? null;
  const pane = scrollPane(control);
  for (let nth = 0; nth < TRIES && pane && !found(); nth++) {
    const rows = rowsOf(control);
    const [first, last] = [rows[0]?.index ?? 0, rows.at(-1)?.index ?? 0];
    const height = last > first ? averageHeight(rows) : pane.clientHeight;
    const middle = (first + last) / 2;
    const stated = Number(control.getAttribute("aria-rowcount") ?? rows[0]?.row.getAttribute("aria-setsize") ?? 0);
    // The first jump is proportional, the next ones correct it by what was rendered there.
    const top = nth === 0 && stated > 0 ? (index / stated) * pane.scrollHeight - pane.clientHeight / 2 : pane.scrollTop + (index - middle) * height;
    pane.scrollTo({ top, behavior: "instant" });
    await rendered();
  }
  return found();
}

/** Make sure that the row a reference names is rendered. */
export async function renderTarget(refs: Refs, ref: NodeRef | undefined): Promise<void> {
  const part = ref?.uid ? partOf(ref.uid) : null;
  if (part?.row === undefined) return;
  const control = refs.resolve({ uid: part.control });
  if (control && !rowsOf(control).some((entry) => entry.index === part.row)) await renderRow(control, part.row);
}

function averageHeight(rows: { row: Element }[]): number {
  const [first, last] = [rows[0]?.row.getBoundingClientRect(), rows.at(-1)?.row.getBoundingClientRect()];
  return first && last && rows.length > 1 ? Math.max(1, (last.top - first.top) / (rows.length - 1)) : 20;
}

function scrollPane(control: Element): Element | null {
  const all = [control, ...control.querySelectorAll("*")].filter((part) => part.scrollHeight > part.clientHeight + 1 && part.clientHeight > 0);
  const scrolling = all.filter((part) => /auto|scroll/.test(getComputedStyle(part).overflowY));
  return scrolling.sort((one, other) => other.scrollHeight - one.scrollHeight)[0] ?? null;
}

function rendered(): Promise<void> {
  return new Promise((done) => {
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0)));
    setTimeout(done, 300);
  });
}

/** What a cell without text shows, as its author has put it in words: a bar, stars, a tick. */
function drawn(cell: Element): string {
  const named = [cell, ...cell.querySelectorAll("[role=img],[role=progressbar],[role=meter],img[alt]")];
  return clean(named.map((part) => part.getAttribute("aria-label") ?? part.getAttribute("alt") ?? "").find(Boolean));
}
