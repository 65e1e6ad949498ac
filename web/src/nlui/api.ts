/** The requests of the page. */
import { personClient } from "../person/client";

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

export const person = personClient();

async function ask<T>(path: string, method = "GET", body?: unknown): Promise<T> {
  const init: RequestInit = { method };
  if (method !== "GET") {
    init.headers = { "content-type": "application/json" };
    init.body = JSON.stringify(body ?? {});
  }
  return (await (await person.ask(path, init)).json().catch(() => ({}))) as T;
}

const one = (id: string): string => `/api/conversations/${encodeURIComponent(id)}`;

export const api = {
  conversations: (): Promise<readonly Listed[]> => ask("/api/conversations"),
  create: (): Promise<{ readonly id: string }> => ask("/api/conversations", "POST"),
  forget: (id: string): Promise<unknown> => ask(one(id), "DELETE"),
  sources: (): Promise<readonly Source[]> => ask("/api/targets"),
  probe: (base_url: string): Promise<{ readonly found: boolean; readonly spec_url: string | null; readonly tried: readonly unknown[] }> =>
    ask("/api/targets/probe", "POST", { base_url }),
  addTarget: (target: Readonly<Record<string, unknown>>): Promise<Added> => ask("/api/targets", "POST", target),
  removeTarget: (name: string): Promise<unknown> => ask(`/api/targets/${encodeURIComponent(name)}`, "DELETE"),
  reload: (name: string): Promise<Added> => ask(`/api/targets/${encodeURIComponent(name)}/reload`, "POST"),
  upload: async (file: File): Promise<Added> => {
    const form = new FormData();
    form.append("spec", file);
    return (await (await person.ask("/api/specs/upload", { method: "POST", body: form })).json()) as Added;
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
  /** What kind of file a result is; the file itself is not read. */
  kindOf: async (handle: string): Promise<string> => {
    const answer = await person.ask(`/api/results/${handle}`);
    void answer.body?.cancel();
    return (answer.headers.get("content-type") ?? "").replace(/;.*/, "");
  },
  file: async (handle: string): Promise<Blob> => (await person.ask(`/api/results/${handle}`)).blob(),
};

/** Say something; the answer arrives on the timeline, so the stream of this request is not read. */
export async function say(id: string, message: string): Promise<void> {
  const answer = await person.ask("/api/chat", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ message, conversation_id: id, client_id: crypto.randomUUID() }),
  });
  await answer.body?.cancel();
}
