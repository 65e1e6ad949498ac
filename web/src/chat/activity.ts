/** What an agent does between messages: tool calls, approvals and notices, in the order of the timeline. */
import "../nlui/items.css";
import { type Frame, follow, retryText } from "../nlui/follow";
import { type ItemActions, itemView } from "../nlui/items";
import { type Item, Timeline } from "../nlui/state";

/** Elements by the id of the message they follow; "" for those before the first. */
export type ActivityByMessage = ReadonlyMap<string, readonly HTMLElement[]>;

/** What the agent does now: its state (`running`, `awaiting_approval`, `aborted`, `error` and so on), the message that it is writing, and why it waits. */
export interface AgentNow {
  readonly run: string;
  readonly writing: string;
  readonly waiting: string;
}

export type ActivityChanged = (activity: ActivityByMessage, now: AgentNow) => void;

export interface ActivityOptions {
  readonly conversation: string;
  /** The person's credential at this moment; "" where the session cookie suffices. */
  readonly credential: () => string;
  /** Open the card of an approval; null where the page has none. */
  readonly review: ((item: Item) => void) | null;
}

/** Follow a conversation until the returned function is called. */
export function followActivity({ conversation, credential, review }: ActivityOptions, changed: ActivityChanged): () => void {
  const timeline = new Timeline();
  const drawn = new Map<string, { readonly item: Item; readonly element: HTMLElement }>();
  const actions: ItemActions = { edit: null, again: null, resume: null, decide: null, review };
  const element = (item: Item): HTMLElement => {
    const known = drawn.get(item.id);
    if (known?.item === item) {
      return known.element;
    }
    const view = itemView(item, actions);
    const made = document.createElement("li");
    made.className = "chat-activity nlui";
    made.setAttribute("aria-label", view.label);
    made.append(view.element);
    drawn.set(item.id, { item, element: made });
    return made;
  };
  let now: AgentNow = { run: "", writing: "", waiting: "" };
  let stop = (): void => undefined;
  const start = (): void => {
    stop();
    stop = follow({ id: conversation, token: credential, seen: () => timeline.seq, frame: onFrame, connected: () => undefined });
  };
  const onFrame = (frame: Frame): void => {
    if (frame.type === "ui_state_snapshot") {
      timeline.reset(frame.state.items, frame.seq);
      now = { run: frame.run, writing: "", waiting: "" };
    } else if (frame.type === "run_status") {
      now = { ...now, run: frame.run };
    } else if (frame.type === "answering") {
      now = { ...now, writing: frame.text, waiting: frame.text === "" && frame.reasoning ? thinking(frame.reasoning) : "" };
    } else if (frame.type === "retrying") {
      now = { ...now, writing: "", waiting: retryText(frame) };
    } else if (frame.type !== "ui_state_delta") {
      return;
    } else if (!timeline.apply(frame.seq, frame.ops)) {
      timeline.reset([], 0); // a change is missing: reconnecting brings a snapshot
      start();
      return;
    }
    changed(groupByMessage(timeline.shown(), element), now);
  };
  start();
  return () => stop();
}

/** The end of what the model thinks at the moment, in one line. */
function thinking(reasoning: string): string {
  return `Thinking: ${reasoning.slice(-120).replace(/\s+/g, " ").trim()}`;
}

/** Group everything that is not a message by the message before it. */
function groupByMessage(items: readonly Item[], element: (item: Item) => HTMLElement): ActivityByMessage {
  const activity = new Map<string, HTMLElement[]>();
  let after = "";
  for (const item of items) {
    if (item.kind === "user_message" || item.kind === "assistant_markdown") {
      after = (item.message_id ?? "").replace(/~.*/, "");
    } else {
      activity.set(after, [...(activity.get(after) ?? []), element(item)]);
    }
  }
  return activity;
}
