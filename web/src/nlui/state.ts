/** The timeline's items on this page, kept up to date by the server's numbered changes. */

export interface Item {
  readonly id: string;
  readonly ts?: string;
  readonly kind: "user_message" | "assistant_markdown" | "tool" | "approval" | "end_turn" | "notice" | "sampling";
  readonly superseded?: boolean;
  readonly message_id?: string;
  readonly client_id?: string;
  /** The first version of an edited or repeated message. */
  readonly version_of?: string;
  /** All versions of a message in order, if there are several; set by this page. */
  readonly versions?: readonly string[];
  readonly text?: string;
  readonly md?: string;
  readonly name?: string;
  readonly args?: unknown;
  readonly status?: string;
  readonly content?: { readonly result: unknown; readonly is_error: boolean } | null;
  readonly approval_id?: string;
  readonly digest?: string;
  readonly tool?: string;
  /** What a call that needs approval would do, in plain words. */
  readonly says?: string;
  readonly request?: unknown;
  readonly risk?: string;
  readonly decided_by?: string;
  readonly decision?: string;
  readonly reason?: string;
  readonly level?: string;
  /** Why an answer is not whole: `stopped` or `broken`. */
  readonly partial?: string;
  /** What the model thought before it answered. */
  readonly reasoning?: string;
  readonly usage?: Usage;
}

/** What an answer took, or all answers together; without `cost` the price is not known. */
export interface Usage {
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly cached_tokens?: number;
  readonly cost?: number;
  readonly currency?: string;
  readonly model?: string;
  /** Tokens that `cost` leaves out, because their price is not known. */
  readonly unpriced?: number;
}

export type Op =
  | { readonly op: "append"; readonly item: Item }
  | { readonly op: "update"; readonly id: string; readonly set: Partial<Item> };

/** Ends that nothing else on the page tells; an error has its notice. */
const ENDS: Readonly<Record<string, string>> = { abort: "Stopped.", limit: "The turn reached its limit." };

export class Timeline {
  private readonly items = new Map<string, Item>();
  private cache: Item[] | null = null;
  private groups: Map<string, string[]> | null = null;
  /** Samplings with the tokens of their turn and messages with versions, kept so that an unchanged one stays the same object. */
  private readonly summed = new Map<string, Item>();
  seq = 0;

  reset(items: readonly Item[], seq: number): void {
    this.items.clear();
    for (const item of items) {
      this.items.set(item.id, item);
    }
    this.seq = seq;
    this.cache = this.groups = null;
  }

  /** Apply one change; return false if one before it is missing and a snapshot is needed. */
  apply(seq: number, ops: readonly Op[]): boolean {
    if (seq !== this.seq + 1) {
      return false;
    }
    this.seq = seq;
    this.cache = this.groups = null;
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
    this.cache ??= onePerTurn(oneBoxPerCall([...this.items.values()].filter((item) => !item.superseded && (item.kind !== "end_turn" || (item.reason ?? "") in ENDS)))).map((item) => this.unchanged(this.withVersions(item)));
    return this.cache;
  }

  private withVersions(item: Item): Item {
    const versions = this.versions().get(item.version_of ?? item.id) ?? [];
    return item.kind === "user_message" && versions.length > 1 ? { ...item, versions } : item;
  }

  /** The versions of each message that has several, by the first one. */
  private versions(): ReadonlyMap<string, readonly string[]> {
    if (this.groups === null) {
      this.groups = new Map();
      for (const { id, version_of: first } of this.items.values()) {
        if (first) {
          this.groups.set(first, [...(this.groups.get(first) ?? [first]), id]);
        }
      }
    }
    return this.groups;
  }

  private unchanged(item: Item): Item {
    if (item.kind !== "sampling" && !item.versions) {
      return item;
    }
    const known = this.summed.get(item.id);
    if (known && JSON.stringify(known) === JSON.stringify(item)) {
      return known;
    }
    this.summed.set(item.id, item);
    return item;
  }
}

export function endText(item: Item): string {
  return ENDS[item.reason ?? ""] ?? "";
}

/** Say what an answer took: `1,200 tokens in, 300 out · $0.012`. */
export function usageText(usage: Usage): string {
  const count = (tokens = 0): string => tokens.toLocaleString("en");
  const cached = usage.cached_tokens ? ` (${count(usage.cached_tokens)} cached)` : "";
  const tokens = `${count(usage.input_tokens)} tokens in${cached}, ${count(usage.output_tokens)} out`;
  if (usage.cost === undefined) {
    return tokens;
  }
  return `${tokens} · ${usage.unpriced ? "at least " : ""}${money(usage.cost, usage.currency ?? "USD")}`;
}

function money(amount: number, currency: string): string {
  const digits = amount >= 1 || amount === 0 ? 2 : 4;
  try {
    return amount.toLocaleString("en", { style: "currency", currency, minimumFractionDigits: 2, maximumFractionDigits: digits });
  } catch {
    return `${amount.toFixed(digits)} ${currency}`; // not a currency of ISO 4217
  }
}

/** The searchable text of an item. */
export function textOf(item: Item): string {
  const parts = [item.text, item.md, item.reasoning, item.name, item.tool, item.args, item.content?.result];
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

/** Tokens are shown once per turn, with its last answer; earlier answers of the turn are shown for their reasoning only. */
function onePerTurn(items: Item[]): Item[] {
  const shown: Item[] = [];
  let last = -1;
  for (const item of items) {
    if (item.kind === "user_message") {
      last = -1;
    }
    if (item.kind !== "sampling") {
      shown.push(item);
      continue;
    }
    const before = shown[last];
    const sum = before?.usage && item.usage ? added(before.usage, item.usage) : (item.usage ?? before?.usage);
    if (before) {
      shown[last] = withoutUsage(before);
    }
    last = shown.push(sum ? { ...item, usage: sum } : item) - 1;
  }
  return shown.filter((item) => item.kind !== "sampling" || item.reasoning !== undefined || item.usage !== undefined);
}

function withoutUsage(item: Item): Item {
  return Object.fromEntries(Object.entries(item).filter(([name]) => name !== "usage")) as unknown as Item;
}

function added(one: Usage, other: Usage): Usage {
  const sum = (name: "input_tokens" | "output_tokens" | "cached_tokens"): number => (one[name] ?? 0) + (other[name] ?? 0);
  const counts = { input_tokens: sum("input_tokens"), output_tokens: sum("output_tokens"), cached_tokens: sum("cached_tokens") };
  if (one.cost === undefined || other.cost === undefined) {
    return { ...counts }; // a part of the price is no price
  }
  return { ...other, ...counts, cost: one.cost + other.cost };
}
