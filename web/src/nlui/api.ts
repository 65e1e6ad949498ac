/** The server of the page: a few requests, and one socket with the timeline. */
import type { Item, Op } from "./state";

export interface Listed {
  readonly id: string;
  readonly title: string;
  readonly updated_at: string;
}

export interface Source {
  readonly name: string;
  readonly kind: string;
  readonly state?: string;
  readonly error?: string;
  readonly where?: string;
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
  readonly api_key: string;
  readonly has_key: boolean;
  readonly file: string | null;
  readonly saved?: boolean;
}

export interface Provider {
  readonly id: string;
  readonly name: string;
  readonly api_base: string;
  readonly key: string;
  readonly running?: boolean;
}

export interface Added {
  readonly name: string;
  readonly tools: readonly string[];
  readonly error: string | null;
  readonly saved: boolean;
}

export interface Tokens {
  readonly input_tokens: number;
  readonly output_tokens: number;
}

export type Frame =
  | { readonly type: "ui_state_snapshot"; readonly seq: number; readonly run: string; readonly usage?: Tokens; readonly state: { readonly items: readonly Item[] } }
  | { readonly type: "ui_state_delta"; readonly seq: number; readonly ops: readonly Op[] }
  | { readonly type: "run_status"; readonly run: string }
  | { readonly type: "assistant_delta"; readonly text: string }
  | { readonly type: "usage"; readonly input_tokens: number; readonly output_tokens: number }
  | { readonly type: "error"; readonly message: string }
  | { readonly type: "heartbeat" };

/** The server wants its token. */
export class NeedsToken extends Error {}

async function answered<T>(asked: Promise<Response>): Promise<T> {
  let answer: Response;
  try {
    answer = await asked;
  } catch {
    throw new Error("The server cannot be reached.");
  }
  const value = (await answer.json().catch(() => ({}))) as T & { readonly error?: string };
  if (answer.status === 401) {
    throw new NeedsToken(value.error ?? "A token is needed");
  }
  if (!answer.ok) {
    throw new Error(typeof value.error === "string" ? value.error : `The server answered ${answer.status}`);
  }
  return value;
}

function ask<T>(path: string, method = "GET", body?: unknown): Promise<T> {
  const init: RequestInit = { method };
  if (body !== undefined) {
    init.headers = { "content-type": "application/json" };
    init.body = JSON.stringify(body);
  }
  return answered(fetch(path, init));
}

const one = (id: string): string => `/api/conversations/${encodeURIComponent(id)}`;

export const api = {
  login: (token: string): Promise<unknown> => ask("/api/login", "POST", { token }),
  conversations: (): Promise<readonly Listed[]> => ask("/api/conversations"),
  create: (): Promise<{ readonly id: string }> => ask("/api/conversations", "POST"),
  forget: (id: string): Promise<unknown> => ask(one(id), "DELETE"),
  sources: (): Promise<readonly Source[]> => ask("/api/targets"),
  probe: (base_url: string): Promise<{ readonly found: boolean; readonly spec_url: string | null; readonly tried: readonly unknown[] }> =>
    ask("/api/targets/probe", "POST", { base_url }),
  addTarget: (target: Readonly<Record<string, unknown>>): Promise<Added> => ask("/api/targets", "POST", target),
  removeTarget: (name: string): Promise<unknown> => ask(`/api/targets/${encodeURIComponent(name)}`, "DELETE"),
  reload: (name: string): Promise<Added> => ask(`/api/targets/${encodeURIComponent(name)}/reload`, "POST"),
  upload: (file: File): Promise<Added> => {
    const form = new FormData();
    form.append("spec", file);
    return answered(fetch("/api/specs/upload", { method: "POST", body: form }));
  },
  model: (): Promise<ModelFacts> => ask("/api/config/llm"),
  changeModel: (facts: Readonly<Record<string, unknown>>): Promise<ModelFacts> => ask("/api/config/llm", "PUT", facts),
  testModel: (facts: Readonly<Record<string, unknown>>): Promise<{ readonly ok: boolean; readonly error?: string; readonly ms?: number }> =>
    ask("/api/config/llm/test", "POST", facts),
  models: (facts: Readonly<Record<string, unknown>>): Promise<{ readonly models: readonly string[] }> => ask("/api/config/llm/models", "POST", facts),
  providers: (): Promise<readonly Provider[]> => ask("/api/config/llm/providers"),
  selection: (id: string): Promise<Selection> => ask(`${one(id)}/tools`),
  select: (id: string, chosen: Selection): Promise<Selection> => ask(`${one(id)}/tools`, "PUT", chosen),
  stop: (id: string): Promise<unknown> => ask("/api/chat/stop", "POST", { conversation_id: id }),
  edit: (id: string, index: number, content: string): Promise<unknown> => ask(`${one(id)}/messages/${index}`, "PUT", { content }),
  regenerate: (id: string, index: number): Promise<unknown> => ask(`${one(id)}/regenerate`, "POST", { from_index: index }),
  answer: (id: string, reply: Readonly<Record<string, unknown>>): Promise<unknown> =>
    ask("/api/chat/confirm", "POST", { conversation_id: id, ...reply }),
  result: (handle: string): Promise<unknown> => ask(`/api/results/${handle}`),
  kindOf: async (handle: string): Promise<string> => {
    const answer = await fetch(`/api/results/${handle}`);
    void answer.body?.cancel();
    if (!answer.ok) {
      throw new Error("gone");
    }
    return (answer.headers.get("content-type") ?? "").replace(/;.*/, "");
  },
};

/** Say something; the answer arrives on the timeline, so the stream of this request is not read. */
export async function say(id: string, message: string): Promise<void> {
  const asked = fetch("/api/chat", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ message, conversation_id: id, client_id: crypto.randomUUID() }),
  });
  const answer = await asked.catch(() => null);
  if (answer?.ok) {
    await answer.body?.cancel();
    return;
  }
  await answered(answer ? Promise.resolve(answer) : Promise.reject(new Error()));
}

/** Follow a conversation until the returned function is called; comes back by itself after a break. */
export function follow(id: string, seen: () => number, frame: (frame: Frame) => void, connected: (yes: boolean) => void): () => void {
  let over = false;
  let wait = 300;
  let socket: WebSocket;
  const open = (): void => {
    socket = new WebSocket(`${location.origin.replace(/^http/, "ws")}/ws/timeline`);
    socket.onopen = () => {
      wait = 300;
      connected(true);
      socket.send(JSON.stringify({ type: "hello", conversation: id, state_id: id, last_seq: seen() }));
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
