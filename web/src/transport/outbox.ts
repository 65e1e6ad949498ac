/** Collects what the page has to say: what a person did leaves at once, what scripts say waits a moment for company. */
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

  /** Send as part of what the person is doing now. */
  sendNow(what: PageMessage | Short, origin: Origin): void {
    this.queue.push({ what, priority: origin.priority, origin });
    if (!this.flushing) {
      this.flushing = true;
      queueMicrotask(() => this.flush(true));
    }
  }

  /** Send soon, together with what else comes. */
  sendSoon(what: PageMessage, priority = MEDIUM): void {
    this.queue.push({ what, priority, origin: null });
    this.timer ??= setTimeout(() => this.flush(false), QUIET_MS);
  }

  /** Send as a frame of its own, before anything queued. */
  sendFirst(what: PageMessage): void {
    this.deliver(frameOf([what], false));
  }

  /** Keep everything until `resume`. */
  pause(): void {
    this.stopped = true;
    // Ids made on the lost line mean nothing on the next; what the person did is found again by its element.
    this.queue = this.queue.filter((entry) => entry.origin !== null);
  }

  /** Send again; `readdress` finds what a waiting action means on the new line, or drops it. */
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
