/** The state of a conversation on the page: messages, unsent echoes, receipts. Pure functions. */

export interface Message {
  readonly id: string;
  readonly ts: string;
  readonly author: "user" | "assistant";
  readonly mime: string;
  readonly content: string;
  readonly client_id?: string;
  /** The name of an agent that has one. */
  readonly name?: string;
}

export interface Echo {
  readonly client_id: string;
  readonly content: string;
  readonly failed: string | null;
}

export interface Receipts {
  readonly notified: string | null;
  readonly read: string | null;
}

export interface Log {
  readonly messages: readonly Message[];
  readonly echoes: readonly Echo[];
  readonly receipts: Receipts;
  readonly earlier: boolean;
}

export type Stage = "sent" | "notified" | "read";

export const empty: Log = { messages: [], echoes: [], receipts: { notified: null, read: null }, earlier: false };

/** Add messages, in any order and with duplicates. A message replaces its echo. */
export function merged(log: Log, found: readonly Message[]): Log {
  const known = new Map(log.messages.map((message) => [message.id, message]));
  for (const message of found) {
    known.set(message.id, known.get(message.id) ?? message);
  }
  const messages = [...known.values()].sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  const arrived = new Set(found.map((message) => message.client_id));
  return { ...log, messages, echoes: log.echoes.filter((echo) => !arrived.has(echo.client_id)) };
}

/** Add an echo: a message that is being sent. */
export function echoed(log: Log, echo: Echo): Log {
  const others = log.echoes.filter((one) => one.client_id !== echo.client_id);
  const arrived = log.messages.some((message) => message.client_id === echo.client_id);
  return { ...log, echoes: arrived ? others : [...others, echo] };
}

/** Mark an echo as failed. It stays, so that it can be sent again. */
export function failed(log: Log, clientId: string, why: string): Log {
  return { ...log, echoes: log.echoes.map((echo) => (echo.client_id === clientId ? { ...echo, failed: why } : echo)) };
}

/** The id of the last message, after which the stream continues. */
export function newest(log: Log): string {
  return log.messages.at(-1)?.id ?? "";
}

/** How far a message of the person has been delivered. */
export function stageOf(message: Message, receipts: Receipts): Stage {
  if (receipts.read !== null && message.id <= receipts.read) {
    return "read";
  }
  return receipts.notified !== null && message.id <= receipts.notified ? "notified" : "sent";
}

/** Whether the person spoke last and no agent has been notified of it. */
export function isUnheard(log: Log): boolean {
  const last = log.messages.at(-1);
  return last !== undefined && last.author === "user" && log.echoes.length === 0 && stageOf(last, log.receipts) === "sent";
}
