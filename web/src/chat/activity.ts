/** What an agent does between messages: its calls, its questions, its notices, in the order of the timeline. */
import "../nlui/items.css";
import { type Acts, itemView } from "../nlui/items";
import { type Item, type Op, Timeline } from "../nlui/state";

/** Elements by the id of the message they follow; "" for those before the first. */
export type Woven = ReadonlyMap<string, readonly HTMLElement[]>;

interface Snapshot {
  readonly seq: number;
  readonly state: { readonly items: readonly Item[] };
}

interface Delta {
  readonly seq: number;
  readonly ops: readonly Op[];
}

/** Follow a conversation until the returned function is called; the browser itself comes back after a break. */
export function activity(conversation: string, changed: (woven: Woven) => void, problem: (why: string) => void): () => void {
  const timeline = new Timeline();
  const drawn = new Map<string, { readonly item: Item; readonly element: HTMLElement }>();
  const source = new EventSource(`/timeline/stream?${new URLSearchParams({ conversation })}`);
  const acts: Acts = {
    edit: () => Promise.resolve(),
    again: () => undefined,
    decide: (item, reply) => void decide(item, reply).catch((error: unknown) => problem(String(error))),
  };
  const tell = (): void => changed(weave(timeline.shown(), (item) => element(item)));
  const element = (item: Item): HTMLElement => {
    const known = drawn.get(item.id);
    if (known?.item === item) {
      return known.element;
    }
    const view = itemView(item, acts);
    const made = document.createElement("li");
    made.className = "chat-activity nlui";
    made.setAttribute("aria-label", view.label);
    made.append(view.element);
    drawn.set(item.id, { item, element: made });
    return made;
  };
  source.addEventListener("ui_state_snapshot", (event) => {
    const { seq, state } = JSON.parse(String((event as MessageEvent).data)) as Snapshot;
    timeline.reset(state.items, seq);
    tell();
  });
  source.addEventListener("ui_state_delta", (event) => {
    const { seq, ops } = JSON.parse(String((event as MessageEvent).data)) as Delta;
    timeline.apply(seq, ops);
    tell();
  });
  return () => source.close();
}

async function decide(item: Item, reply: Readonly<Record<string, unknown>>): Promise<void> {
  const yes = "arguments" in reply ? "approve_with_edit" : "approve";
  const { approved, approval_id: _, ...rest } = reply;
  const answer = await fetch(`/approvals/${encodeURIComponent(item.approval_id ?? "")}/decision`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...rest, decision: approved ? yes : "deny_continue" }),
  });
  if (!answer.ok) {
    const { error } = (await answer.json()) as { readonly error: { readonly message: string } };
    throw new Error(error.message);
  }
}

/** Hang everything that is not a message on the message before it. */
function weave(items: readonly Item[], element: (item: Item) => HTMLElement): Woven {
  const woven = new Map<string, HTMLElement[]>();
  let after = "";
  for (const item of items) {
    if (item.kind === "user_message" || item.kind === "assistant_markdown") {
      after = (item.message_id ?? "").replace(/~.*/, "");
    } else {
      woven.set(after, [...(woven.get(after) ?? []), element(item)]);
    }
  }
  return woven;
}
