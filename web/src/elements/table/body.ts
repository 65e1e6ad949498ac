/** Draws the rows that are in view, and changes only the cells whose text is another one. */
import { make } from "../base";
import { type Column, shown } from "./columns";
import { type Group, isGroup, type Row, type Rows } from "./data";

export interface BodyState {
  readonly data: Rows;
  /** The columns that are shown, in order, each with its position among those of the server. */
  readonly columns: readonly { readonly column: Column; readonly at: number }[];
  readonly select: string;
  readonly selected: ReadonlySet<number>;
  readonly actions: readonly Element[];
}

interface Drawn {
  readonly element: HTMLElement;
  /** What the row was built for; another one needs other cells. */
  readonly shape: string;
}

interface Pattern {
  readonly shape: string;
  readonly row: HTMLElement;
}

/** The rows by their index; the table says where each of them is drawn. */
export class Body {
  readonly element = make("div.rows", { role: "rowgroup" });
  private readonly drawn = new Map<number, Drawn>();
  /** An empty row, which is copied: that costs less than building each. */
  private pattern: Pattern = { shape: "", row: make("div.row") };

  /** Draw the rows from `first` to `last`, and remove all others but `keep`. */
  draw(state: BodyState, first: number, last: number, keep: number, top: (index: number) => number): void {
    for (const [index, row] of this.drawn) {
      if ((index < first || index > last) && index !== keep) {
        row.element.remove();
        this.drawn.delete(index);
      }
    }
    this.prepare(state);
    // From the end, because screen readers go by the order in the document: each row stands before the one drawn last.
    let next = keep > last ? this.rowElement(keep) : null;
    for (let index = last; index >= first; index--) {
      next = this.rowAt(index, state, next).element;
      next.style.transform = `translateY(${top(index)}px)`;
    }
  }

  rowElement(index: number): HTMLElement | null {
    return this.drawn.get(index)?.element ?? null;
  }

  clear(): void {
    this.drawn.clear();
    this.element.replaceChildren();
  }

  private prepare(state: BodyState): void {
    const { columns, select, actions } = state;
    const shape = `${columns.map(({ column, at }) => `${at}${column.name}${column.type}${column.edit}`).join()} ${select} ${actions.map(({ outerHTML }) => outerHTML).join()}`;
    if (shape !== this.pattern.shape) {
      this.pattern = { shape, row: make("div.row", { role: "row" }, ...cells(state)) };
    }
  }

  private rowAt(index: number, state: BodyState, next: HTMLElement | null): Drawn {
    const item = state.data.rows[index - state.data.from] ?? null;
    const group = item !== null && isGroup(item);
    const shape = group ? "group" : this.pattern.shape;
    let row = this.drawn.get(index);
    if (row?.shape !== shape) {
      row?.element.remove();
      row = { element: group ? groupRow(state) : (this.pattern.row.cloneNode(true) as HTMLElement), shape };
      row.element.dataset["index"] = String(index);
      row.element.setAttribute("aria-rowindex", String(index + 1));
      this.drawn.set(index, row);
      this.element.insertBefore(row.element, next);
    }
    row.element.classList.toggle("waiting", item === null);
    if (item === null) {
      row.element.querySelectorAll("[col-id]:not(:empty)").forEach((cell) => cell.replaceChildren());
    } else {
      update(row.element, item, state);
    }
    return row;
  }
}

function groupRow({ columns }: BodyState): HTMLElement {
  return make("div.row.group", { role: "row" }, make("div.cell", { role: "gridcell", tabindex: -1, "aria-colspan": columns.length }));
}

function cells({ columns, select, actions }: BodyState): HTMLElement[] {
  const found = columns.map(({ column }, at) => {
    const cell = make("div.cell", { role: "gridcell", tabindex: -1, "aria-colindex": at + 1, "col-id": column.name });
    cell.classList.toggle("number", column.type === "number");
    if (!column.edit) {
      cell.setAttribute("aria-readonly", "true");
    }
    return cell;
  });
  if (select === "many") {
    const box = make("input", { type: "checkbox", tabindex: -1, "aria-label": "Select row" });
    found.unshift(make("div.cell.check", { role: "gridcell", tabindex: -1 }, box));
  }
  if (actions.length > 0) {
    const buttons = actions.map((action) => actionButton(action));
    found.push(make("div.cell.actions", { role: "gridcell", tabindex: -1 }, ...buttons));
  }
  return found;
}

/** A copy of the author's button; the table presses the original with the row as its value. */
function actionButton(action: Element): HTMLButtonElement {
  const copy = make("button", { type: "button", tabindex: -1 });
  copy.append(...[...action.childNodes].map((node) => node.cloneNode(true)));
  const label = action.getAttribute("aria-label") ?? action.getAttribute("title");
  if (label !== null) {
    copy.setAttribute("aria-label", label);
    copy.title = label;
  }
  return copy;
}

function update(element: HTMLElement, item: Row | Group, state: BodyState): void {
  if (isGroup(item)) {
    updateGroup(element, item, state);
    return;
  }
  const selected = state.selected.has(item[0]);
  if (state.select !== "") {
    element.setAttribute("aria-selected", String(selected));
  }
  element.setAttribute("row-id", String(item[0]));
  const offset = state.select === "many" ? 1 : 0;
  if (offset === 1) {
    (element.firstElementChild?.firstElementChild as HTMLInputElement).checked = selected;
  }
  state.columns.forEach(({ column, at }, position) => {
    const cell = element.children[position + offset] as HTMLElement;
    const text = shown((item[at + 1] ?? null), column);
    if (!cell.classList.contains("editing") && cell.textContent !== text) {
      cell.textContent = text;
      cell.title = text.length > 24 ? text : "";
    }
  });
}

function updateGroup(element: HTMLElement, group: Group, { columns }: BodyState): void {
  element.setAttribute("aria-expanded", String(group.open));
  const totals = columns.filter(({ column }) => group.totals[column.name] !== undefined);
  const texts = totals.map(({ column }) => `${column.label}: ${shown(group.totals[column.name] ?? null, column)}`);
  const text = `${group.open ? "▾" : "▸"} ${group.group || "(none)"} (${group.count})${texts.map((one) => ` · ${one}`).join("")}`;
  const cell = element.firstElementChild;
  if (cell !== null && cell.textContent !== text) {
    cell.textContent = text;
  }
}
