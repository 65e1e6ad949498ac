/** The headings of a table: sort by pressing, resize at the edge, move by dragging. */
import { make } from "../base";
import type { Column } from "./columns";
import type { Query } from "./data";

export interface HeadHooks {
  sort(name: string): void;
  menu(name: string, heading: HTMLElement): void;
  resize(name: string, width: number): void;
  move(name: string, before: string | null): void;
  all(checked: boolean): void;
}

export interface HeadState {
  readonly columns: readonly Column[];
  readonly query: Query;
  readonly select: string;
  readonly actions: boolean;
  /** Whether all rows are selected. */
  readonly all: boolean;
}

export class Head {
  readonly element = make("div.row.head", { role: "row" });
  private drawn = "";
  private dragged: string | null = null;

  constructor(private readonly hooks: HeadHooks) {}

  draw(state: HeadState): void {
    const { sort, descending, filters, group } = state.query;
    const now = JSON.stringify([state.columns.map(({ name, label, type }) => [name, label, type]), sort, descending, filters, group, state.select, state.actions]);
    if (now !== this.drawn) {
      this.drawn = now;
      this.build(state);
    }
    const box = this.element.querySelector<HTMLInputElement>(".check input");
    if (box !== null) {
      box.checked = state.all;
    }
  }

  private build(state: HeadState): void {
    const root = this.element.getRootNode() as ShadowRoot | Document;
    const focused = [...this.element.children].indexOf(root.activeElement as Element);
    const cells = state.columns.map((column, at) => this.heading(column, at, state));
    if (state.select === "many") {
      cells.unshift(this.checkAll());
    }
    if (state.actions) {
      cells.push(make("div.cell", { role: "columnheader", tabindex: -1 }, make("span.quiet", {}, "Actions")));
    }
    this.element.replaceChildren(...cells);
    if (focused >= 0) {
      cells[focused]?.focus();
    }
  }

  private checkAll(): HTMLElement {
    const box = make("input", { type: "checkbox", tabindex: -1, "aria-label": "Select all rows" });
    box.addEventListener("change", () => this.hooks.all(box.checked));
    return make("div.cell.check", { role: "columnheader", tabindex: -1 }, box);
  }

  private heading(column: Column, at: number, { query }: HeadState): HTMLElement {
    const { name, label, type } = column;
    const sorted = query.sort === name ? (query.descending ? "descending" : "ascending") : "none";
    const cell = make("div.cell", { role: "columnheader", tabindex: -1, "aria-colindex": at + 1, "col-id": name, "aria-sort": sorted, draggable: "true" });
    cell.classList.toggle("number", type === "number");
    const filtered = (query.filters[name] ?? "") !== "" || query.group === name;
    const menu = make("button.more", { type: "button", tabindex: -1, "aria-label": `Menu of ${label}`, title: "Filter, group, hide …" });
    menu.classList.toggle("used", filtered);
    const edge = make("span.edge", { "aria-hidden": "true" });
    cell.append(make("span.text", {}, label), make("span.mark", { "aria-hidden": "true" }), menu, edge);
    cell.addEventListener("click", (event) => {
      if (event.target === menu) {
        this.hooks.menu(name, cell);
      } else if (event.target !== edge) {
        this.hooks.sort(name);
      }
    });
    this.resizeBy(edge, cell, name);
    this.dragBy(cell, name);
    return cell;
  }

  private resizeBy(edge: HTMLElement, cell: HTMLElement, name: string): void {
    edge.addEventListener("pointerdown", (down) => {
      down.preventDefault();
      down.stopPropagation();
      edge.setPointerCapture(down.pointerId);
      const width = cell.offsetWidth;
      const move = (event: PointerEvent): void => this.hooks.resize(name, width + event.clientX - down.clientX);
      edge.addEventListener("pointermove", move);
      edge.addEventListener("pointerup", () => edge.removeEventListener("pointermove", move), { once: true });
    });
  }

  private dragBy(cell: HTMLElement, name: string): void {
    cell.addEventListener("dragstart", () => (this.dragged = name));
    cell.addEventListener("dragover", (event) => {
      if (this.dragged !== null) {
        event.preventDefault();
      }
    });
    cell.addEventListener("drop", () => {
      if (this.dragged !== null && this.dragged !== name) {
        this.hooks.move(this.dragged, name);
      }
      this.dragged = null;
    });
  }
}
