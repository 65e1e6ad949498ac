/** What the page shows: the server's items, changed by its numbered ops. */

export interface Item {
  readonly id: string;
  readonly kind: "user_message" | "assistant_markdown" | "tool" | "approval" | "end_turn" | "notice";
  readonly superseded?: boolean;
  readonly text?: string;
  readonly md?: string;
  readonly name?: string;
  readonly args?: unknown;
  readonly status?: string;
  readonly content?: { readonly result: unknown; readonly is_error: boolean } | null;
  readonly approval_id?: string;
  readonly digest?: string;
  readonly tool?: string;
  readonly request?: unknown;
  readonly decided_by?: string;
  readonly reason?: string;
  readonly level?: string;
}

export type Op =
  | { readonly op: "append"; readonly item: Item }
  | { readonly op: "update"; readonly id: string; readonly set: Partial<Item> };

export class Timeline {
  private readonly items = new Map<string, Item>();
  seq = 0;

  reset(items: readonly Item[], seq: number): void {
    this.items.clear();
    for (const item of items) {
      this.items.set(item.id, item);
    }
    this.seq = seq;
  }

  /** Apply one change; false says that one was missed and a snapshot is needed. */
  apply(seq: number, ops: readonly Op[]): boolean {
    if (seq !== this.seq + 1) {
      return false;
    }
    this.seq = seq;
    for (const op of ops) {
      if (op.op === "append") {
        this.items.set(op.item.id, op.item);
      } else {
        const old = this.items.get(op.id);
        if (old) {
          this.items.set(op.id, { ...old, ...op.set });
        }
      }
    }
    return true;
  }

  /** Items a person sees, in order; an end of turn only matters when it was not an ordinary one. */
  shown(): Item[] {
    return [...this.items.values()].filter(
      (item) => !item.superseded && item.kind !== "end_turn",
    );
  }
}
