/** The selected rows, by their number; each as Lua gets it. */
import { reference, type Row } from "./data";

export class Selection {
  private readonly chosen = new Map<number, unknown>();

  get ids(): ReadonlySet<number> {
    return new Set(this.chosen.keys());
  }

  get size(): number {
    return this.chosen.size;
  }

  values(): unknown[] {
    return [...this.chosen.values()];
  }

  /** Select a row alone, or in addition to others; selecting it again takes it out. */
  toggle(row: Row, alone: boolean): void {
    const had = this.chosen.delete(row[0]);
    if (alone) {
      this.chosen.clear();
    }
    if (!had || alone) {
      this.chosen.set(row[0], reference(row));
    }
  }

  replace(ids: readonly number[]): void {
    this.chosen.clear();
    ids.forEach((id) => this.chosen.set(id, { obj: id }));
  }
}
