/** Which columns are shown, in what order and how wide: what the person has chosen, over what the author wrote. */
import type { Column } from "./columns";
import { isGroup, type Rows } from "./data";

/** A column that is shown, with its position among those of the server. */
export interface Shown {
  readonly column: Column;
  readonly at: number;
}

const LEAST_WIDTH = 56;
/** What the menu and the padding of a heading take, in rem. */
const HEAD_ROOM = 3.7;

export class Layout {
  columns: readonly Column[] = [];
  private order: string[] = [];
  private chosen: Set<string> | null = null;
  private readonly widths = new Map<string, number>();
  /** The longest text of each column so far, in characters: columns do not jump while other rows come into view. */
  private readonly longest = new Map<string, number>();

  get hidden(): ReadonlySet<string> {
    return this.chosen ?? new Set(this.columns.filter(({ hidden }) => hidden).map(({ name }) => name));
  }

  visible(): Shown[] {
    const { hidden } = this;
    const rank = (name: string): number => (this.order.includes(name) ? this.order.indexOf(name) : this.order.length);
    return this.columns
      .map((column, at) => ({ column, at }))
      .filter(({ column }) => !hidden.has(column.name))
      .sort((a, b) => rank(a.column.name) - rank(b.column.name) || a.at - b.at);
  }

  names(): string[] {
    return this.visible().map(({ column }) => column.name);
  }

  show(name: string, visible: boolean): void {
    this.chosen = new Set(this.hidden);
    if (visible) {
      this.chosen.delete(name);
    } else {
      this.chosen.add(name);
    }
  }

  /** Put a column before another one, or last. */
  move(name: string, before: string | null): void {
    const names = this.names().filter((one) => one !== name);
    names.splice(before === null ? names.length : names.indexOf(before), 0, name);
    this.order = names;
  }

  /** Move a column one place to the left (−1) or to the right (1). */
  step(name: string, by: number): void {
    const names = this.names();
    const at = names.indexOf(name);
    this.move(name, names[by < 0 ? Math.max(0, at - 1) : at + 2] ?? null);
  }

  resize(name: string, width: number): void {
    this.widths.set(name, Math.max(LEAST_WIDTH, Math.round(width)));
  }

  widthOf(name: string): number | undefined {
    return this.widths.get(name);
  }

  /** The width of each column: what the person or the author said, else by its content. */
  tracks(data: Rows): string[] {
    return this.visible().map(({ column, at }) => {
      const own = this.widths.get(column.name);
      if (own !== undefined) {
        return `${own}px`;
      }
      return column.width === "" ? this.trackFor(column, at, data) : column.width;
    });
  }

  private trackFor(column: Column, at: number, data: Rows): string {
    const lengths = data.rows.slice(0, 40).map((item) => (isGroup(item) ? 0 : String(item[at + 1] ?? "").length));
    const longest = Math.min(40, Math.max(column.label.length + 3, this.longest.get(column.name) ?? 0, ...lengths));
    this.longest.set(column.name, longest);
    const least = Math.max(longest * 0.55 + 1.5, column.label.length * 0.55 + HEAD_ROOM);
    return `minmax(${Math.min(12, Math.max(5, least))}rem, ${longest}fr)`;
  }
}
