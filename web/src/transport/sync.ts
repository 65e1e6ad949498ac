/** The long-polling transport over the tool `ui_sync`. A new call makes the server answer the one that waits. */
import type { Json } from "../protocol";
import type { Dial, Listener, Transport } from "./transport";

export interface SyncAnswer {
  conn: string;
  seq: number;
  frames: (string | Json)[];
  closed?: boolean;
  ended?: boolean;
  ws?: { url: string; token: string };
}

export type Sync = (args: Record<string, Json>) => Promise<SyncAnswer>;

/** Try to open a WebSocket instead; null if that fails. */
export type Upgrade = (offer: { url: string; token: string }, listener: Listener) => Promise<Transport | null>;

const MAX_FAILURES = 3;
const RETRY_MS = 1000;

/** Connect by polling, or by a WebSocket if `upgrade` gets one. */
export function polling(sync: Sync, session: string, upgrade: Upgrade): Dial {
  return (listener) => {
    const poller = new Poller(sync, session, listener);
    let socket: Transport | null = null;
    void poller.open().then(async (answer) => {
      if (answer === null) {
        return;
      }
      socket = answer.ws === undefined ? null : await upgrade(answer.ws, listener);
      if (socket === null) {
        listener.open();
        poller.poll();
      } else {
        poller.close();
      }
    });
    return {
      send: (frame) => (socket ?? poller).send(frame),
      close: () => (socket ?? poller).close(),
    };
  };
}

class Poller implements Transport {
  private conn = "";
  private processed = 0;
  private last = 0;
  /** Frames that no finished call has delivered. Every call carries all of them, which keeps their order. */
  private unsent: { n: number; frame: string }[] = [];
  private running = 0;
  private failures = 0;
  private over = false;

  constructor(
    private readonly sync: Sync,
    private readonly session: string,
    private readonly listener: Listener,
  ) {}

  async open(): Promise<SyncAnswer | null> {
    try {
      const answer = await this.sync({ session: this.session, wait_ms: 0 });
      if (answer.ended === true) {
        this.end(true);
        return null;
      }
      this.conn = answer.conn;
      return answer;
    } catch {
      this.end(false);
      return null;
    }
  }

  send(frame: string): void {
    this.last += 1;
    this.unsent.push({ n: this.last, frame });
    this.poll();
  }

  close(): void {
    this.over = true;
  }

  poll(): void {
    if (this.over) {
      return;
    }
    const carried = [...this.unsent];
    this.running += 1;
    this.sync({ session: this.session, conn: this.conn, after: this.processed, frames: carried })
      .then((answer) => {
        this.failures = 0;
        this.unsent = this.unsent.filter(({ n }) => !carried.some((one) => one.n === n));
        this.take(answer);
      })
      .catch(() => this.failed())
      .finally(() => {
        this.running -= 1;
        if (this.running === 0) {
          setTimeout(() => this.running === 0 && this.poll(), this.failures > 0 ? RETRY_MS : 0);
        }
      });
  }

  private take({ seq, frames, closed, ended }: SyncAnswer): void {
    let number = seq - frames.length;
    for (const frame of frames) {
      number += 1;
      if (number > this.processed && !this.over) {
        this.processed = number;
        this.listener.frame(typeof frame === "string" ? frame : JSON.stringify(frame));
      }
    }
    if (closed === true || ended === true) {
      this.end(ended === true);
    }
  }

  private failed(): void {
    this.failures += 1;
    if (this.failures >= MAX_FAILURES) {
      this.end(false);
    }
  }

  private end(ended: boolean): void {
    if (!this.over) {
      this.over = true;
      this.listener.closed(ended);
    }
  }
}
