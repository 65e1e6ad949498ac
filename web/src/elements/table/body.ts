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
  item: Row | Group | null;
  /** What the row was built for; another one needs other cells. */
  readonly shape: string;
}

/** The rows by their index; the table says where each of them is drawn. */
export class Body {
  readonly element = make("div.rows", { role: "rowgroup" });
  private readonly drawn = new Map<number, Drawn>();

  /** Draw the rows from `first` to `last`, and remove all others but `keep`. */
  draw(state: BodyState, first: number, last: number, keep: number, top: (index: number) => number): void {
    for (const [index, row] of this.drawn) {
      if ((index < first || index > last) && index !== keep) {
        row.element.remove();
        this.drawn.delete(index);
      }
    }
    for (let index = first; index <= last; index++) {
      const row = this.rowAt(index, state);
      row.element.style.transform = `translateY(${top(index)}px)`;
    }
  }

  rowElement(index: number): HTMLElement | null {
    return this.drawn.get(index)?.element ?? null;
  }

  clear(): void {
    this.drawn.clear();
    this.element.replaceChildren();
  }

  private rowAt(index: number, state: BodyState): Drawn {
    const item = state.data.rows[index - state.data.from] ?? null;
    const shape = shapeOf(item, state);
    let row = this.drawn.get(index);
    if (row?.shape !== shape) {
      row?.element.remove();
      row = { element: build(index, item, state), item: null, shape };
      this.drawn.set(index, row);
      this.insert(index, row.element);
    }
    if (item !== null) {
      update(row.element, item, state);
      row.item = item;
    }
    return row;
  }

  /** Screen readers go by the order in the document. */
  private insert(index: number, element: HTMLElement): void {
    const next = [...this.element.children].find((other) => Number(other.getAttribute("aria-rowindex")) > index + 1);
    this.element.insertBefore(element, next ?? null);
  }
}

function shapeOf(item: Row | Group | null, { columns, select, actions }: BodyState): string {
  if (item === null) {
    return "waiting";
  }
  return isGroup(item) ? "group" : `${columns.map(({ column, at }) => `${at}${column.name}${column.type}${column.edit}`).join()} ${select} ${actions.length}`;
}

function build(index: number, item: Row | Group | null, state: BodyState): HTMLElement {
  const row = make("div.row", { role: "row", "aria-rowindex": index + 1 });
  row.dataset["index"] = String(index);
  if (item === null) {
    row.append(make("div.cell.waiting", { role: "gridcell" }, "…"));
  } else if (isGroup(item)) {
    row.classList.add("group");
    row.append(make("div.cell", { role: "gridcell", tabindex: -1, "aria-colspan": state.columns.length }));
  } else {
    row.append(...cells(state));
  }
  return row;
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
