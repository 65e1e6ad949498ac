/** Questions about the session's history, and the server's answers. */
import type { Json } from "../protocol";
import { MESSAGE_HISTORY } from "../wire.gen";

export type Action = "list" | "undo" | "redo" | "look" | "return" | "fork";

export interface Step {
  readonly step: number;
  /** Unix time in seconds. */
  readonly at: number;
  readonly by: string;
  readonly author: string;
  readonly app: string;
  readonly label: string;
  readonly undone?: boolean;
  readonly undoes?: number;
}

export interface Listing {
  readonly first: number;
  readonly last: number;
  /** Newest first. */
  readonly steps: readonly Step[];
  /** The author of what this page does. */
  readonly me: string;
}

export interface Undone {
  readonly label: string;
  /** What stayed because it was changed since. */
  readonly kept?: readonly string[];
}

export interface Answer {
  readonly id: number;
  readonly result?: Json;
  readonly error?: string;
}

export class HistoryRequests {
  private readonly waiting = new Map<number, { resolve(result: unknown): void; reject(reason: Error): void }>();
  private last = 0;

  /** `send` returns false while there is no connection. */
  constructor(private readonly send: (frame: string) => boolean) {}

  ask<T>(action: Action, asked: Record<string, Json> = {}): Promise<T> {
    this.last += 1;
    const id = this.last;
    return new Promise<unknown>((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      if (!this.send(JSON.stringify({ type: MESSAGE_HISTORY, data: { id, action, ...asked } }))) {
        this.waiting.delete(id);
        reject(new Error("The server cannot be reached"));
      }
    }) as Promise<T>;
  }

  receive({ id, result, error }: Answer): void {
    const caller = this.waiting.get(id);
    this.waiting.delete(id);
    if (error === undefined) {
      caller?.resolve(result);
    } else {
      caller?.reject(new Error(error));
    }
  }

  /** The connection is lost, and its answers with it. */
  lost(): void {
    for (const caller of this.waiting.values()) {
      caller.reject(new Error("The connection was lost"));
    }
    this.waiting.clear();
  }
}
