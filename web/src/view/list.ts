/** A `ui-viewlist` element: one hole per row, or a window of rows between two spacers. */
import { isInlineView, isWindow, type InlineView, type Json, type Window } from "../protocol";
import { Hole } from "./hole";
import type { Site } from "./site";
import type { Stage } from "./stage";
import type { Survivors, View } from "./view";
import { Scroller } from "./scroller";
import { runScripts } from "./scripts";

export class List {
  private rows: Hole[] = [];
  private scroller: Scroller | null = null;

  constructor(
    readonly stage: Stage,
    readonly view: View,
    readonly site: Site,
    private readonly position: number,
  ) {}

  nodes(): Node[] {
    return [this.site.element];
  }

  main(): Element {
    return this.site.element;
  }

  fill(values: readonly Json[]): void {
    const entry = values[this.position];
    if (isWindow(entry)) {
      this.scroller = this.newScroller();
      this.site.element.append(this.scroller.top, ...this.buildRows(entry.rows), this.scroller.bottom);
      this.scroller.set(entry.from, entry.rows.length, entry.length);
    } else if (Array.isArray(entry)) {
      this.site.element.append(...this.buildRows(entry));
    }
  }

  settle(survivors: Survivors, values: readonly Json[]): void {
    const { site } = this;
    const kept = survivors?.has(site.element) ?? false;
    site.element = (survivors?.get(site.element) as Element | undefined) ?? site.element;
    for (const row of this.rows) {
      row.settle(survivors);
    }
    this.scroller?.settle(survivors, site.element);
    site.bind(values, kept);
  }

  /** Take a new length, or a new window. */
  write(value: Json): void {
    this.site.clearError(this.position);
    if (isWindow(value)) {
      this.showWindow(value);
    } else {
      this.resize(typeof value === "number" ? value : 0);
    }
    this.stage.touched(this.site.element);
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
    this.site.release();
    for (const row of this.rows) {
      row.current?.release();
    }
  }

  private buildRows(entries: readonly Json[]): Node[] {
    const nodes: Node[] = [];
    let key: string | 0 = 0;
    for (const entry of entries) {
      const hole = this.newRow();
      this.rows.push(hole);
      if (isInlineView(entry)) {
        key = entry[1] === 0 ? key : entry[1];
        nodes.push(...hole.build([entry[0], key, entry[2] ?? []]));
      } else {
        nodes.push(...hole.nodes());
      }
    }
    return nodes;
  }

  private resize(length: number): void {
    this.rows.splice(length).forEach((row) => row.remove());
    while (this.rows.length < length) {
      const row = this.newRow();
      this.rows.push(row);
      this.site.element.append(...row.nodes());
    }
  }

  private showWindow({ length, from, rows }: Window): void {
    if (this.scroller === null) {
      this.resize(0);
      this.scroller = this.newScroller();
      this.site.element.append(this.scroller.top, this.scroller.bottom);
      this.scroller.settle(null, this.site.element);
    }
    const present = new Map(this.rows.map((row) => [row.current?.number ?? 0, row]));
    const fresh: Hole[] = [];
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
    fresh.forEach((row) => row.settle(null));
    fresh.forEach((row) => runScripts(row.nodes()));
    this.scroller.set(from, rows.length, length);
  }

  private newRow(): Hole {
    const { row } = this.site.spec;
    return new Hole(this.stage, "", row ?? { className: "", style: "", slot: "" }, null);
  }

  private newScroller(): Scroller {
    const { site, position, view } = this;
    return new Scroller(site.element, (from, count) =>
      this.stage.send([view.number, position, [from, count]], { element: site.element, attribute: "ui-viewlist", priority: 1 }),
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
