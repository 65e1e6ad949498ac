/** The server of the page: a few requests, and one socket with the timeline. */
import type { Item, Op } from "./state";

export interface Listed {
  readonly id: string;
  readonly title: string;
  readonly updated_at: string;
}

export interface Source {
  readonly name: string;
  readonly state?: string;
  readonly error?: string;
  readonly tools: readonly string[];
}

export interface Selection {
  readonly enabled_sources: readonly string[] | null;
  readonly disabled_tools: readonly string[];
}

export interface ModelFacts {
  readonly provider: string;
  readonly model: string;
  readonly api_base: string;
}

export type Frame =
  | { readonly type: "ui_state_snapshot"; readonly seq: number; readonly run: string; readonly state: { readonly items: readonly Item[] } }
  | { readonly type: "ui_state_delta"; readonly seq: number; readonly ops: readonly Op[] }
  | { readonly type: "assistant_delta"; readonly text: string }
  | { readonly type: "usage"; readonly input_tokens: number; readonly output_tokens: number }
  | { readonly type: "heartbeat" };

async function ask<T>(path: string, method = "GET", body?: unknown): Promise<T> {
  const init: RequestInit = { method };
  if (body !== undefined) {
    init.headers = { "content-type": "application/json" };
    init.body = JSON.stringify(body);
  }
  const answer = await fetch(path, init);
  const value = (await answer.json()) as T & { readonly error?: string };
  if (!answer.ok) {
    throw new Error(value.error ?? `The server answered ${answer.status}`);
  }
  return value;
}

const one = (id: string): string => `/api/conversations/${encodeURIComponent(id)}`;

export const api = {
  conversations: (): Promise<readonly Listed[]> => ask("/api/conversations"),
  create: (): Promise<{ readonly id: string }> => ask("/api/conversations", "POST"),
  forget: (id: string): Promise<unknown> => ask(one(id), "DELETE"),
  sources: (): Promise<readonly Source[]> => ask("/api/tools/sources"),
  model: (): Promise<ModelFacts> => ask("/api/config/llm"),
  selection: (id: string): Promise<Selection> => ask(`${one(id)}/tools`),
  select: (id: string, chosen: Selection): Promise<Selection> => ask(`${one(id)}/tools`, "PUT", chosen),
  stop: (id: string): Promise<unknown> => ask("/api/chat/stop", "POST", { conversation_id: id }),
  edit: (id: string, index: number, content: string): Promise<unknown> => ask(`${one(id)}/messages/${index}`, "PUT", { content }),
  regenerate: (id: string, index: number): Promise<unknown> => ask(`${one(id)}/regenerate`, "POST", { from_index: index }),
  answer: (id: string, reply: Readonly<Record<string, unknown>>): Promise<unknown> =>
    ask("/api/chat/confirm", "POST", { conversation_id: id, ...reply }),
};

/** Say something; the answer arrives on the timeline, so the stream of this request is not read. */
export async function say(id: string, message: string): Promise<void> {
  const answer = await fetch("/api/chat", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ message, conversation_id: id }),
  });
  if (!answer.ok) {
    throw new Error(((await answer.json()) as { readonly error?: string }).error ?? `The server answered ${answer.status}`);
  }
  const reader = answer.body?.getReader();
  await reader?.read();
  await reader?.cancel();
}

/** Follow a conversation until the returned function is called; comes back by itself after a break. */
export function follow(id: string, seen: () => number, frame: (frame: Frame) => void, connected: (yes: boolean) => void): () => void {
  let over = false;
  let wait = 500;
  let socket: WebSocket;
  const open = (): void => {
    socket = new WebSocket(`${location.origin.replace(/^http/, "ws")}/ws/timeline`);
    socket.onopen = () => {
      wait = 500;
      connected(true);
      socket.send(JSON.stringify({ type: "hello", conversation: id, state_id: id, last_seq: seen() }));
    };
    socket.onmessage = (message) => frame(JSON.parse(String(message.data)) as Frame);
    socket.onclose = () => {
      if (!over) {
        connected(false);
        setTimeout(open, wait);
        wait = Math.min(wait * 2, 10_000);
      }
    };
  };
  open();
  return () => {
    over = true;
    socket.close();
  };
}
