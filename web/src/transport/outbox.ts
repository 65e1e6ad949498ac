/** Batches outgoing messages: user events leave at once, those of scripts after a short delay. */
import type { PageMessage, Short } from "../protocol";
import type { Origin } from "../view/page_context";

const QUIET_MS = 10;
const MEDIUM = 1;

interface Entry {
  readonly what: PageMessage | Short;
  readonly priority: number;
  readonly origin: Origin | null;
}

export class Outbox {
  private queue: Entry[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private flushing = false;
  private stopped = true;

  constructor(private readonly deliver: (frame: string) => boolean) {}

  /** Send with the other user events of the current task. */
  sendNow(what: PageMessage | Short, origin: Origin): void {
    this.queue.push({ what, priority: origin.priority, origin });
    if (!this.flushing) {
      this.flushing = true;
      queueMicrotask(() => this.flush(true));
    }
  }

  /** Send after a short delay, together with later messages. */
  sendSoon(what: PageMessage, priority = MEDIUM): void {
    this.queue.push({ what, priority, origin: null });
    this.timer ??= setTimeout(() => this.flush(false), QUIET_MS);
  }

  /** Send in its own frame, ahead of the queue. */
  sendFirst(what: PageMessage): void {
    this.deliver(frameOf([what], false));
  }

  /** Hold messages back until `resume`. */
  pause(): void {
    this.stopped = true;
    // Ids are valid for one connection only. User events survive, since they can be found again by their element.
    this.queue = this.queue.filter((entry) => entry.origin !== null);
  }

  /** Send what was held back. `readdress` translates a user event for the new connection; null drops it. */
  resume(readdress: (origin: Origin, old: Short) => Short | null): void {
    this.stopped = false;
    this.queue = this.queue.flatMap((entry) => {
      const what = entry.origin === null ? entry.what : readdress(entry.origin, entry.what as Short);
      return what === null ? [] : [{ ...entry, what }];
    });
    if (this.queue.length > 0) {
      this.flush(this.queue.some((entry) => entry.origin !== null));
    }
  }

  private flush(userEvent: boolean): void {
    this.flushing = false;
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.stopped || this.queue.length === 0) {
      return;
    }
    const entries = this.queue;
    this.queue = [];
    if (entries.some((entry) => entry.priority !== MEDIUM)) {
      entries.sort((a, b) => a.priority - b.priority);
    }
    if (!this.deliver(frameOf(entries.map((entry) => entry.what), userEvent))) {
      this.queue = [...entries, ...this.queue];
    }
  }
}

function frameOf(messages: readonly (PageMessage | Short)[], userEvent: boolean): string {
  const [only] = messages;
  return JSON.stringify(messages.length === 1 && Array.isArray(only) ? only : { userEvent, messages });
}
