/** The HTTP API of the nlui page. */
import { personClient } from "../person/client";
import type { Attached } from "./attached";
import type { Draft } from "./drafts";

export interface ConversationSummary {
  readonly id: string;
  readonly title: string;
  readonly updated_at: string;
  readonly pinned?: boolean;
  readonly archived?: boolean;
  readonly folder?: string;
  /** Where the searched words stand in the conversation. */
  readonly match?: string;
}

export type ExportFormat = "md" | "json" | "html";

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

export interface ModelSettings {
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
  /** The models of a server that runs on this computer. */
  readonly models?: readonly string[];
}

export interface AddedTarget {
  readonly name: string;
  readonly tools: readonly string[];
  readonly error: string | null;
  readonly saved: boolean;
}

/** An app of a mounted server, opened in the sandbox. */
export interface OpenedApp {
  readonly view: string;
  readonly url: string;
  readonly server: string;
  readonly tool: { readonly name: string; readonly title?: string };
  readonly border: boolean;
  readonly allow: string;
  readonly sandbox: Readonly<Record<string, unknown>>;
}

/** What was set for one conversation; what is absent is as configured. */
export interface ConversationSettings {
  readonly model?: { readonly model?: string; readonly provider?: string; readonly api_base?: string; readonly api_key_env?: string };
  readonly instructions?: string;
  readonly temperature?: number;
  readonly reasoning?: string;
  readonly max_tokens?: number;
  readonly max_cost?: number;
}

/** A server of models that can be used without another key. */
export interface ModelOffer {
  readonly name: string;
  readonly provider?: string;
  readonly api_base?: string;
  readonly api_key_env?: string;
  readonly models: readonly string[];
}

export const person = personClient();

async function request<T>(path: string, method = "GET", body?: unknown): Promise<T> {
  const init: RequestInit = { method };
  if (method !== "GET") {
    init.headers = { "content-type": "application/json" };
    init.body = JSON.stringify(body ?? {});
  }
  return (await (await person.fetch(path, init)).json().catch(() => ({}))) as T;
}

const pathOf = (id: string): string => `/api/conversations/${encodeURIComponent(id)}`;

export const api = {
  /** Without words all conversations, else those that have them. */
  conversations: (words = ""): Promise<readonly ConversationSummary[]> => request(words ? `/api/conversations?q=${encodeURIComponent(words)}` : "/api/conversations"),
  label: (id: string, change: Readonly<Partial<Pick<ConversationSummary, "title" | "folder" | "pinned" | "archived">>>): Promise<unknown> => request(pathOf(id), "PATCH", change),
  exported: async (id: string, format: ExportFormat): Promise<Blob> => (await person.fetch(`${pathOf(id)}/export?format=${format}`)).blob(),
  create: (): Promise<{ readonly id: string }> => request("/api/conversations", "POST"),
  forget: (id: string): Promise<unknown> => request(pathOf(id), "DELETE"),
  sources: (): Promise<readonly Source[]> => request("/api/targets"),
  probe: (base_url: string): Promise<{ readonly found: boolean; readonly spec_url: string | null; readonly tried: readonly unknown[] }> =>
    request("/api/targets/probe", "POST", { base_url }),
  addTarget: (target: Readonly<Record<string, unknown>>): Promise<AddedTarget> => request("/api/targets", "POST", target),
  removeTarget: (name: string): Promise<unknown> => request(`/api/targets/${encodeURIComponent(name)}`, "DELETE"),
  addServer: (server: Readonly<Record<string, unknown>>): Promise<AddedTarget> => request("/api/servers", "POST", server),
  removeServer: (name: string): Promise<unknown> => request(`/api/servers/${encodeURIComponent(name)}`, "DELETE"),
  reload: (name: string): Promise<AddedTarget> => request(`/api/targets/${encodeURIComponent(name)}/reload`, "POST"),
  upload: async (file: File): Promise<AddedTarget> => {
    const form = new FormData();
    form.append("spec", file);
    return (await (await person.fetch("/api/specs/upload", { method: "POST", body: form })).json()) as AddedTarget;
  },
  model: (): Promise<ModelSettings> => request("/api/config/llm"),
  changeModel: (settings: Readonly<Record<string, unknown>>): Promise<ModelSettings> => request("/api/config/llm", "PUT", settings),
  testModel: (settings: Readonly<Record<string, unknown>>): Promise<{ readonly ok: boolean; readonly error?: string; readonly ms?: number }> =>
    request("/api/config/llm/test", "POST", settings),
  models: (settings: Readonly<Record<string, unknown>>): Promise<{ readonly models: readonly string[] }> => request("/api/config/llm/models", "POST", settings),
  providers: (): Promise<readonly Provider[]> => request("/api/config/llm/providers"),
  settings: (id: string): Promise<ConversationSettings> => request(`${pathOf(id)}/settings`),
  changeSettings: (id: string, settings: ConversationSettings): Promise<ConversationSettings> => request(`${pathOf(id)}/settings`, "PUT", settings),
  offers: (): Promise<readonly ModelOffer[]> => request("/api/models"),
  bringIn: async (file: Blob): Promise<{ readonly conversations: readonly string[]; readonly messages: number }> =>
    (await (await person.fetch("/api/conversations/import", { method: "POST", body: file })).json()) as { readonly conversations: readonly string[]; readonly messages: number },
  selection: (id: string): Promise<Selection> => request(`${pathOf(id)}/tools`),
  select: (id: string, chosen: Selection): Promise<Selection> => request(`${pathOf(id)}/tools`, "PUT", chosen),
  stop: (id: string): Promise<unknown> => request("/api/chat/stop", "POST", { conversation_id: id }),
  /** Begin a turn without a message; an answer that was cut off is continued. */
  resume: (id: string): Promise<unknown> => request(`/agents/${encodeURIComponent(id)}/resume`, "POST"),
  edit: (id: string, index: number, content: string, attachments: readonly Attached[] = []): Promise<unknown> =>
    request(`${pathOf(id)}/messages/${index}`, "PUT", { content, attachments }),
  attach: async (file: File): Promise<Attached> => {
    const answer = await person.fetch(`/api/attachments?name=${encodeURIComponent(file.name)}`, { method: "POST", body: file });
    const { id, name } = (await answer.json()) as Attached;
    return { id, name };
  },
  attached: async (id: string): Promise<Blob> => (await person.fetch(`/api/attachments/${id}`)).blob(),
  version: (id: string, item: string): Promise<unknown> => request(`${pathOf(id)}/version`, "PUT", { item }),
  regenerate: (id: string, index: number): Promise<unknown> => request(`${pathOf(id)}/regenerate`, "POST", { from_index: index }),
  answer: (id: string, reply: Readonly<Record<string, unknown>>): Promise<unknown> =>
    request("/api/chat/confirm", "POST", { conversation_id: id, ...reply }),
  /** The titles of the tools that have an app, by name. */
  apps: (): Promise<Readonly<Record<string, string>>> => request("/api/apps"),
  openApp: (tool: string, conversation: string): Promise<OpenedApp> => request("/api/apps/views", "POST", { tool, conversation }),
  closeApp: (view: string): Promise<unknown> => request(`/api/apps/views/${view}`, "DELETE"),
  askApp: async (view: string, method: string, params: unknown): Promise<unknown> => {
    const answer = await request<{ readonly result?: unknown; readonly error?: { readonly code: number; readonly message: string } }>(`/api/apps/views/${view}`, "POST", { method, params });
    if (answer.error) {
      throw Object.assign(new Error(answer.error.message), answer.error);
    }
    return answer.result;
  },
  appCall: (conversation: string, call: string): Promise<{ readonly result: Readonly<Record<string, unknown>> }> =>
    request(`/api/apps/calls/${encodeURIComponent(conversation)}/${encodeURIComponent(call)}`),
  result: (handle: string): Promise<unknown> => request(`/api/results/${handle}`),
  /** The media type of a stored result; its content is not downloaded. */
  kindOf: async (handle: string): Promise<string> => {
    const answer = await person.fetch(`/api/results/${handle}`);
    void answer.body?.cancel();
    return (answer.headers.get("content-type") ?? "").replace(/;.*/, "");
  },
  file: async (handle: string): Promise<Blob> => (await person.fetch(`/api/results/${handle}`)).blob(),
};

/** Post a message. The answer arrives on the timeline, so the response stream is not read. */
export async function sendMessage(id: string, { text, files, clientId = crypto.randomUUID() }: Draft): Promise<void> {
  const attachments = files.length > 0 ? { attachments: files } : {};
  const answer = await person.fetch("/api/chat", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ message: text, conversation_id: id, client_id: clientId, ...attachments }),
  });
  await answer.body?.cancel();
}
