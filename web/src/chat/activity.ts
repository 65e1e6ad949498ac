/** What an agent does between messages: its calls, its questions, its notices, in the order of the timeline. */
import "../nlui/items.css";
import { type Frame, follow } from "../nlui/follow";
import { type Acts, itemView } from "../nlui/items";
import { type Item, Timeline } from "../nlui/state";

/** Elements by the id of the message they follow; "" for those before the first. */
export type Woven = ReadonlyMap<string, readonly HTMLElement[]>;

export interface Watching {
  readonly conversation: string;
  /** The person's credential; "" where a cookie lets the page read. */
  readonly credential: string;
  /** Go to where a question is answered; null where the page has no such place. */
  readonly review: ((item: Item) => void) | null;
}

/** Follow a conversation until the returned function is called. */
export function activity({ conversation, credential, review }: Watching, changed: (woven: Woven) => void): () => void {
  const timeline = new Timeline();
  const drawn = new Map<string, { readonly item: Item; readonly element: HTMLElement }>();
  const acts: Acts = { edit: null, again: null, decide: null, review };
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
  let leave = (): void => undefined;
  const begin = (): void => {
    leave();
    leave = follow({ id: conversation, token: credential, seen: () => timeline.seq, frame: took, connected: () => undefined });
  };
  const took = (frame: Frame): void => {
    if (frame.type === "ui_state_snapshot") {
      timeline.reset(frame.state.items, frame.seq);
    } else if (frame.type !== "ui_state_delta") {
      return;
    } else if (!timeline.apply(frame.seq, frame.ops)) {
      timeline.reset([], 0); // one was missed: a new greeting brings a snapshot
      begin();
      return;
    }
    changed(weave(timeline.shown(), element));
  };
  begin();
  return () => leave();
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
