/** The chat's HTTP API: history, posts, and the event stream. */
import type { Attached, LoadFile } from "../nlui/attached";
import type { Storage } from "../nlui/attachments";
import { type Fetch, RequestError, sendJson } from "../person/client";
import type { Message, Receipts } from "./log";
import type { AgentRequest } from "./run_bar";

const PAGE_SIZE = 50;
const LAST = "9".repeat(19);
const RETRY_MS = [250, 500, 1000, 2000];

export interface StreamListener {
  readonly message: (message: Message) => void;
  receipts(receipts: Receipts): void;
  /** Reports why there is no connection; `null` when there is one. */
  problem(why: string | null, status: number): void;
}

export interface Server {
  post(content: string, clientId: string): Promise<{ id: string; ts: string }>;
  earlier(before: string | null): Promise<{ messages: Message[]; has_earlier: boolean }>;
  /** Follow the messages after a cursor until the returned function is called. */
  follow(after: () => string, listener: StreamListener): () => void;
}

/** The API of the server that sent this page; `fetch` adds the credentials. */
export function server(conversation: string, fetch: Fetch): Server {
  const query = (fields: Record<string, string>): string => new URLSearchParams({ ...fields, conversation }).toString();

  return {
    async post(content, clientId) {
      const body = JSON.stringify({ content, client_id: clientId, conversation });
      const answer = await fetch("/chat/messages", { method: "POST", body, headers: { "Content-Type": "application/json" } });
      return (await answer.json()) as { id: string; ts: string };
    },
    async earlier(before) {
      const answer = await fetch(`/chat/messages?${query({ before: before ?? LAST, limit: String(PAGE_SIZE) })}`);
      return (await answer.json()) as { messages: Message[]; has_earlier: boolean };
    },
    follow(after, listener) {
      const stop = new AbortController();
      const stream = (signal: AbortSignal): Promise<Response> => fetch(`/chat/stream?${query({ after: after() })}`, { signal });
      const page = (signal: AbortSignal): Promise<Response> => fetch(`/chat/messages?${query({ after: after() })}`, { signal });
      void followStream(stream, page, listener, stop.signal);
      return () => stop.abort();
    },
  };
}

/** The files of messages at the server that sent this page. */
export function fileServer(fetch: Fetch): Storage {
  return {
    async store(file) {
      const answer = await fetch(`/chat/attachments?name=${encodeURIComponent(file.name)}`, { method: "POST", body: file });
      const { id, name } = (await answer.json()) as Attached;
      return { id, name };
    },
    load: loadFrom(fetch),
  };
}

export function loadFrom(fetch: Fetch): LoadFile {
  return async (id) => (await fetch(`/chat/attachments/${id}`)).blob();
}

/** Reaches the agent of a conversation, in whichever process it runs. */
export function agentRequests(conversation: string, fetch: Fetch): (request: AgentRequest) => Promise<unknown> {
  return (request) => sendJson(fetch, `/agents/${encodeURIComponent(conversation)}/${request}`, {});
}

type Open = (signal: AbortSignal) => Promise<Response>;

/** Read the stream, and poll whenever it ends: some proxies buffer event streams without end. */
async function followStream(stream: Open, page: Open, listener: StreamListener, signal: AbortSignal): Promise<void> {
  const stopped = (): boolean => signal.aborted;
  for (let failures = 0; !stopped(); failures++) {
    try {
      const answer = await stream(signal);
      listener.problem(null, 200);
      failures = 0;
      await readEvents(answer, listener);
    } catch {
      // Polling finds out what is wrong.
    }
    try {
      const { messages } = (await (await page(signal)).json()) as { messages: Message[] };
      messages.forEach(listener.message);
      listener.problem(null, 200);
    } catch (error) {
      if (stopped()) {
        return;
      }
      const [why, status] = error instanceof RequestError ? [error.message, error.status] : ["The server cannot be reached.", 0];
      listener.problem(why, status);
    }
    await pause(RETRY_MS[Math.min(failures, RETRY_MS.length - 1)] ?? 2000, signal);
  }
}

async function readEvents(answer: Response, listener: StreamListener): Promise<void> {
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    waiting += part.value;
    const events = waiting.split("\n\n");
    waiting = events.pop() ?? "";
    for (const event of events) {
      deliver(event, listener);
    }
  }
}

function deliver(event: string, listener: StreamListener): void {
  const fields = new Map(event.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]));
  const data = fields.get("data");
  if (data === undefined) {
    return;
  }
  if (fields.get("event") === "message") {
    listener.message(JSON.parse(data) as Message);
  } else if (fields.get("event") === "receipts") {
    listener.receipts(JSON.parse(data) as Receipts);
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    const end = (): void => {
      clearTimeout(timer);
      resolve();
    };
    signal.addEventListener("abort", end, { once: true });
  });
}
