/** Follows the timeline of a conversation over a WebSocket that reconnects with back-off. */
import type { Item, Op, Usage } from "./state";

export type Frame =
  | { readonly type: "ui_state_snapshot"; readonly seq: number; readonly run: string; readonly usage?: Usage; readonly state: { readonly items: readonly Item[] } }
  | { readonly type: "ui_state_delta"; readonly seq: number; readonly ops: readonly Op[] }
  | { readonly type: "run_status"; readonly run: string }
  | { readonly type: "assistant_delta"; readonly text: string }
  | { readonly type: "reasoning_delta"; readonly text: string }
  | { readonly type: "sampled" }
  | { readonly type: "answering"; readonly text: string; readonly reasoning?: string }
  | ({ readonly type: "usage" } & Usage)
  | { readonly type: "retrying"; readonly reason: string; readonly seconds: number; readonly attempt: number; readonly attempts: number }
  | { readonly type: "error"; readonly message: string }
  | { readonly type: "heartbeat" };

/** Say that a request to the model is sent again. */
export function retryText({ reason, seconds, attempt, attempts }: Extract<Frame, { readonly type: "retrying" }>): string {
  return `${reason}. Trying again in ${String(Math.max(1, Math.round(seconds)))} s, ${String(attempt)} of ${String(attempts)}`;
}

export interface FollowOptions {
  readonly id: string;
  /** The credential at this moment, "" where there is none: a person may sign in later. */
  readonly token: () => string;
  readonly seen: () => number;
  readonly frame: (frame: Frame) => void;
  readonly connected: (yes: boolean) => void;
}

/** Follow a conversation until the returned function is called. */
export function follow({ id, token, seen, frame, connected }: FollowOptions): () => void {
  let over = false;
  let wait = 300;
  let socket: WebSocket;
  const open = (): void => {
    socket = new WebSocket(`${location.origin.replace(/^http/, "ws")}/ws/timeline`);
    socket.onopen = () => {
      wait = 300;
      connected(true);
      const given = token();
      socket.send(JSON.stringify({ type: "hello", conversation: id, state_id: id, last_seq: seen(), ...(given ? { token: given } : {}) }));
    };
    socket.onmessage = (message) => {
      if (!over) {
        frame(JSON.parse(String(message.data)) as Frame);
      }
    };
    socket.onclose = () => {
      if (!over) {
        connected(false);
        setTimeout(() => over || open(), wait);
        wait = Math.min(wait * 2, 5_000);
      }
    };
  };
  open();
  return () => {
    over = true;
    socket.close();
  };
}
