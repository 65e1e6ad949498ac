/** A `ui-viewlist` element: a placeholder for each row, or a window of rows between two spacers. */
import { isInlineView, isSplice, isWindow, type InlineView, type Json, type Window } from "../protocol";
import type { BoundElement } from "./bound_element";
import type { PageContext } from "./page_context";
import { bindAndRun } from "./scripts";
import { Scroller } from "./scroller";
import type { Survivors, View } from "./view";
import { ViewPlaceholder } from "./view_placeholder";

export class List {
  private rows: ViewPlaceholder[] = [];
  private scroller: Scroller | null = null;

  constructor(
    readonly page: PageContext,
    readonly view: View,
    readonly host: BoundElement,
    private readonly position: number,
  ) {}

  nodes(): Node[] {
    return [this.host.element];
  }

  main(): Element {
    return this.host.element;
  }

  fill(values: readonly Json[]): void {
    const entry = values[this.position];
    if (isWindow(entry)) {
      this.scroller = this.newScroller();
      this.host.element.append(this.scroller.top, ...this.buildRows(entry.rows), this.scroller.bottom);
      this.scroller.set(entry.from, entry.rows.length, entry.length);
    } else if (Array.isArray(entry)) {
      this.host.element.append(...this.buildRows(entry));
    }
  }

  settle(survivors: Survivors, values: readonly Json[]): void {
    const { host } = this;
    const kept = survivors?.has(host.element) ?? false;
    host.element = (survivors?.get(host.element) as Element | undefined) ?? host.element;
    for (const row of this.rows) {
      row.settle(survivors);
    }
    this.scroller?.settle(survivors, host.element);
    host.bind(values, kept);
  }

  /** Apply a new length, a splice or a new window. */
  write(value: Json): void {
    this.host.clearError(this.position);
    if (isWindow(value)) {
      this.showWindow(value);
    } else if (isSplice(value)) {
      this.splice(...value.splice);
    } else {
      this.resize(typeof value === "number" ? value : 0);
    }
    this.page.touched(this.host.element);
  }

  showRow(index: number, view: InlineView | null): void {
    if (index >= this.rows.length) {
      this.resize(index + 1);
    }
    this.rows[index]?.show(view);
  }

  *views(): Iterable<View> {
    for (const row of this.rows) {
      if (row.current !== null) {
        yield row.current;
      }
    }
  }

  release(): void {
    this.scroller?.release();
    this.host.release();
    for (const row of this.rows) {
      row.current?.release();
    }
  }

  private buildRows(entries: readonly Json[]): Node[] {
    const nodes: Node[] = [];
    let key: string | 0 = 0;
    for (const entry of entries) {
      const row = this.newRow();
      this.rows.push(row);
      if (isInlineView(entry)) {
        key = entry[1] === 0 ? key : entry[1];
        nodes.push(...row.build([entry[0], key, entry[2] ?? []]));
      } else {
        nodes.push(...row.nodes());
      }
    }
    return nodes;
  }

  private resize(length: number): void {
    this.drop(this.rows.splice(length));
    while (this.rows.length < length) {
      const row = this.newRow();
      this.rows.push(row);
      this.host.element.append(...row.nodes());
    }
  }

  private splice(at: number, removed: number, added: number): void {
    this.drop(this.rows.splice(at, removed));
    const before = this.rows[at]?.nodes()[0] ?? null;
    const fresh = Array.from({ length: added }, () => this.newRow());
    this.rows.splice(at, 0, ...fresh);
    for (const node of fresh.flatMap((row) => row.nodes())) {
      this.host.element.insertBefore(node, before);
    }
  }

  /** Remove rows that `rows` no longer holds; all at once where there is nothing else: browsers look at the siblings of each. */
  private drop(gone: readonly ViewPlaceholder[]): void {
    const { element } = this.host;
    const nodes = this.rows.length === 0 ? gone.flatMap((row) => row.nodes()) : [];
    if (nodes.length > 1 && nodes.length === element.childNodes.length && nodes.every((node) => node.parentNode === element)) {
      gone.forEach((row) => row.current?.release());
      element.replaceChildren();
    } else {
      gone.forEach((row) => row.remove());
    }
  }

  private showWindow({ length, from, rows }: Window): void {
    if (this.scroller === null) {
      this.resize(0);
      this.scroller = this.newScroller();
      this.host.element.append(this.scroller.top, this.scroller.bottom);
      this.scroller.settle(null, this.host.element);
    }
    const present = new Map(this.rows.map((row) => [row.current?.number ?? 0, row]));
    const fresh: ViewPlaceholder[] = [];
    let key: string | 0 = 0;
    let at: Node = this.scroller.top;
    const next = rows.map((entry) => {
      const known = typeof entry === "number" ? present.get(entry) : undefined;
      const row = known ?? this.newRow();
      if (known !== undefined) {
        present.delete(entry as number);
        key = known.current?.template.key ?? key;
      } else if (isInlineView(entry)) {
        key = entry[1] === 0 ? key : entry[1];
        row.build([entry[0], key, entry[2] ?? []]);
        fresh.push(row);
      }
      at = placeAfter(at, row.nodes());
      return row;
    });
    present.forEach((row) => row.remove());
    this.rows.filter((row) => row.current === null).forEach((row) => row.remove());
    this.rows = next;
    bindAndRun(
      () => fresh.forEach((row) => row.settle(null)),
      () => fresh.flatMap((row) => row.nodes()),
    );
    this.scroller.set(from, rows.length, length);
  }

  private newRow(): ViewPlaceholder {
    const { row } = this.host.spec;
    return new ViewPlaceholder(this.page, "", row ?? { className: "", style: "", slot: "" }, null);
  }

  private newScroller(): Scroller {
    const { host, position, view } = this;
    return new Scroller(host.element, (from, count) =>
      this.page.send([view.number, position, [from, count]], { element: host.element, attribute: "ui-viewlist", priority: 1 }),
    );
  }
}

function placeAfter(at: Node, nodes: readonly Node[]): Node {
  for (const node of nodes) {
    if (at.nextSibling !== node) {
      at.parentNode?.insertBefore(node, at.nextSibling);
    }
    at = node;
  }
  return at;
}
