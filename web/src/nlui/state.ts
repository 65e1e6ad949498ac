/** The timeline's items on this page, kept up to date by the server's numbered changes. */

export interface Item {
  readonly id: string;
  readonly ts?: string;
  readonly kind: "user_message" | "assistant_markdown" | "tool" | "approval" | "end_turn" | "notice";
  readonly superseded?: boolean;
  readonly message_id?: string;
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
  readonly risk?: string;
  readonly decided_by?: string;
  readonly decision?: string;
  readonly reason?: string;
  readonly level?: string;
  /** Why an answer is not whole: `stopped` or `broken`. */
  readonly partial?: string;
}

export type Op =
  | { readonly op: "append"; readonly item: Item }
  | { readonly op: "update"; readonly id: string; readonly set: Partial<Item> };

/** Ends that nothing else on the page tells; an error has its notice. */
const ENDS: Readonly<Record<string, string>> = { abort: "Stopped.", limit: "The turn reached its limit." };

export class Timeline {
  private readonly items = new Map<string, Item>();
  private cache: Item[] | null = null;
  seq = 0;

  reset(items: readonly Item[], seq: number): void {
    this.items.clear();
    for (const item of items) {
      this.items.set(item.id, item);
    }
    this.seq = seq;
    this.cache = null;
  }

  /** Apply one change; return false if one before it is missing and a snapshot is needed. */
  apply(seq: number, ops: readonly Op[]): boolean {
    if (seq !== this.seq + 1) {
      return false;
    }
    this.seq = seq;
    this.cache = null;
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

  /** The visible items in order. The end of a turn is one only if the turn was aborted or limited. */
  shown(): readonly Item[] {
    this.cache ??= oneBoxPerCall([...this.items.values()].filter((item) => !item.superseded && (item.kind !== "end_turn" || (item.reason ?? "") in ENDS)));
    return this.cache;
  }
}

export function endText(item: Item): string {
  return ENDS[item.reason ?? ""] ?? "";
}

/** The searchable text of an item. */
export function textOf(item: Item): string {
  const parts = [item.text, item.md, item.name, item.tool, item.args, item.content?.result];
  return parts.map((part) => (typeof part === "string" ? part : part === undefined ? "" : JSON.stringify(part))).join("\n");
}

/** A call that waits is shown as its question, a decided one as the call alone. */
function oneBoxPerCall(items: Item[]): Item[] {
  const ids = (kind: Item["kind"], waits: boolean): Set<string | undefined> =>
    new Set(items.filter((item) => item.kind === kind && item.approval_id && (!waits || item.status === "pending")).map((item) => item.approval_id));
  const [calls, waiting] = [ids("tool", false), ids("approval", true)];
  return items.filter((item) =>
    item.kind === "tool" ? !waiting.has(item.approval_id) : item.kind !== "approval" || item.status === "pending" || !calls.has(item.approval_id),
  );
}
