/** The grid of a table: headings, rows in view, totals, and the cell that has the focus. */
import { make } from "../base";
import { Body } from "./body";
import type { Query, Rows } from "./data";
import { drawTotals } from "./foot";
import type { Head } from "./head";
import type { Layout } from "./layout";
import { contentHeight, rowsInView, rowTop, scrollFor, type Viewport } from "./scroll";

export const ROW_HEIGHT = 38;
export const HEAD = -1;
const MORE = 8;
/** Pixels of a column that need no hint. */
const BEYOND = 4;
const NOWHERE = -2;

export interface GridState {
  readonly data: Rows;
  readonly layout: Layout;
  readonly query: Query;
  readonly select: string;
  readonly selected: ReadonlySet<number>;
  readonly actions: readonly Element[];
  /** All rows of a page are drawn; otherwise those in view. */
  readonly paged: boolean;
  readonly height: string;
}

export interface Place {
  readonly row: number;
  readonly column: number;
}

export class Grid {
  readonly element = make("div.grid", { role: "grid" });
  /** For pointers: the keyboard reaches every cell by itself. */
  private readonly aside = make("button.aside", { type: "button", tabindex: -1, "aria-hidden": "true", title: "More columns" }, "›");
  readonly frame = make("div.frame", {}, this.element, this.aside);
  private readonly body = new Body();
  private readonly foot = make("div.row.foot", { role: "row", "data-totals": true });
  private state: GridState | null = null;
  active: Place = { row: 0, column: 0 };

  /** `needs` is called with the first and the last row that are drawn. */
  constructor(
    private readonly head: Head,
    private readonly needs: (first: number, last: number) => void,
  ) {
    this.element.append(head.element, this.body.element, this.foot);
    this.element.addEventListener("scroll", () => this.drawRows(), { passive: true });
    this.aside.addEventListener("click", () => this.element.scrollBy({ left: this.element.clientWidth * 0.7, behavior: "smooth" }));
    this.element.addEventListener("focusin", (event) => (this.active = this.placeOf(event) ?? this.active));
  }

  draw(state: GridState): void {
    this.state = state;
    const { data, layout, select } = state;
    this.element.hidden = data.length === 0 && data.columns.length === 0;
    this.element.style.maxHeight = state.paged ? "none" : state.height;
    this.element.setAttribute("aria-rowcount", String(data.length));
    this.element.setAttribute("aria-colcount", String(layout.visible().length));
    this.element.setAttribute("aria-multiselectable", String(select === "many"));
    this.element.style.setProperty("--columns", tracks(state));
    this.head.draw({
      columns: layout.visible().map(({ column }) => column), query: state.query, select, actions: state.actions.length > 0,
      all: data.matching > 0 && state.selected.size >= data.matching,
    });
    drawTotals(this.foot, data, layout.visible(), select === "many");
    this.drawRows();
    requestAnimationFrame(() => this.hint());
  }

  /** Show at the edges that there are columns beyond them. */
  private hint(): void {
    const { scrollLeft, scrollWidth, clientWidth } = this.element;
    const passed = Math.abs(scrollLeft);
    this.frame.classList.toggle("before", passed > BEYOND);
    this.frame.classList.toggle("after", scrollWidth - clientWidth - passed > BEYOND);
  }

  drawRows(): void {
    const { state } = this;
    if (state === null) {
      return;
    }
    const { data, paged } = state;
    this.hint();
    this.body.element.style.height = `${paged ? data.rows.length * ROW_HEIGHT : contentHeight({ length: data.length, rowHeight: ROW_HEIGHT })}px`;
    const view = this.viewport();
    const { first, last } = paged ? { first: data.from, last: data.from + data.rows.length - 1 } : rowsInView(view, MORE);
    const keep = this.hasFocus() ? this.active.row : NOWHERE;
    const top = paged ? (index: number): number => (index - data.from) * ROW_HEIGHT : (index: number): number => rowTop(view, index);
    this.body.draw({ ...state, columns: state.layout.visible() }, first, last, keep, top);
    if (!paged) {
      this.needs(first, last);
    }
    this.setTabStop();
  }

  viewport(): Viewport {
    const around = this.head.element.offsetHeight + this.foot.offsetHeight;
    const height = Math.max(ROW_HEIGHT, this.element.clientHeight - around);
    return { scrollTop: this.element.scrollTop, height, rowHeight: ROW_HEIGHT, length: this.state?.data.length ?? 0 };
  }

  /** The cell that an event is about; the heading is row −1. */
  placeOf(event: Event): Place | null {
    const cell = (event.target as Element).closest("[role=gridcell],[role=columnheader]");
    const row = cell?.parentElement;
    if (!cell || !row || row === this.foot) {
      return null;
    }
    return { row: row === this.head.element ? HEAD : Number(row.dataset["index"]), column: [...row.children].indexOf(cell) };
  }

  cellAt({ row, column }: Place): HTMLElement | null {
    const parent = row === HEAD ? this.head.element : this.body.rowElement(row);
    return (parent?.children[Math.min(column, (parent.children.length || 1) - 1)] ?? null) as HTMLElement | null;
  }

  /** The texts of a row's cells. */
  textsOf(row: number): string[] {
    const found = row === HEAD ? this.head.element : this.body.rowElement(row);
    return [...(found?.querySelectorAll("[col-id]") ?? [])].map((cell) => cell.textContent);
  }

  focus(place: Place): void {
    this.active = place;
    if (place.row !== HEAD && this.state?.paged === false) {
      this.element.scrollTop = scrollFor(this.viewport(), place.row);
      this.drawRows();
    }
    this.setTabStop();
    const cell = this.cellAt(place);
    cell?.focus({ preventScroll: true });
    cell?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  hasFocus(): boolean {
    const focused = (this.element.getRootNode() as ShadowRoot).activeElement;
    return focused !== null && this.element.contains(focused);
  }

  get columns(): number {
    return this.head.element.children.length;
  }

  /** One cell takes the Tab key, the others are reached from it. */
  private setTabStop(): void {
    const cell = this.cellAt(this.active) ?? this.cellAt({ row: HEAD, column: 0 });
    for (const other of this.element.querySelectorAll("[tabindex='0']")) {
      if (other !== cell) {
        other.setAttribute("tabindex", "-1");
      }
    }
    cell?.setAttribute("tabindex", "0");
  }
}

function tracks({ layout, data, select, actions }: GridState): string {
  const buttons = actions.reduce((sum, one) => sum + Math.max(3, one.textContent.trim().length * 0.6 + 2.2), 0.75);
  return [...(select === "many" ? ["2.75rem"] : []), ...layout.tracks(data), ...(actions.length > 0 ? [`${buttons}rem`] : [])].join(" ");
}
