/** One line to the server that comes back by itself, for as long as the page is open. */
import type { Dial, Transport } from "./transport";

export type Status = "connecting" | "open" | "lost" | "ended";

export interface ConnectionEvents {
  /** A new line is open; the server knows nothing of this page yet. */
  opened(asked: boolean): void;
  frame(text: string): void;
  /** `reason` is what the server said when it ended the session. */
  status(status: Status, reason: string): void;
}

/** Seconds to wait before each attempt; the last one repeats. */
const WAITS = [1, 2, 4, 8, 16, 30];
/** A connection that was open for less than this counts as a failed attempt, so that a server that accepts and hangs up is not asked without end. */
const STABLE_MS = 3000;

export interface Connection {
  readonly status: Status;
  send(frame: string): boolean;
  /** Try now instead of after the wait. */
  retry(): void;
  end(): void;
}

/** Connect with `dial`; `probe` says whether the session still exists when a line could not be opened. */
export function connect(dial: Dial, events: ConnectionEvents, probe: () => Promise<boolean>): Connection {
  let status: Status = "connecting";
  let line: Transport | null = null;
  let attempt = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const become = (next: Status, reason = ""): void => {
    if (status !== next) {
      status = next;
      events.status(next, reason);
    }
  };
  const end = (reason = ""): void => {
    clearTimeout(timer);
    line?.close();
    line = null;
    become("ended", reason);
  };
  const later = (): void => {
    const wait = WAITS[Math.min(attempt, WAITS.length - 1)] ?? 30;
    attempt += 1;
    clearTimeout(timer);
    timer = setTimeout(() => void again(), wait * 1000);
  };
  const again = async (): Promise<void> => {
    clearTimeout(timer);
    try {
      if (!(await probe())) {
        end();
        return;
      }
    } catch {
      later();
      return;
    }
    if (line === null && status !== "ended") {
      open();
    }
  };
  const open = (): void => {
    let opened: number | null = null;
    const mine = dial({
      open(asked = false) {
        opened = Date.now();
        line = mine;
        become("open");
        events.opened(asked);
      },
      frame: (text) => events.frame(text),
      closed(ended, reason = "") {
        // A line that was replaced has nothing to say any more.
        if (line !== null && line !== mine) {
          return;
        }
        line = null;
        if (ended) {
          end(reason);
        } else {
          become("lost");
          if (opened !== null && Date.now() - opened >= STABLE_MS) {
            attempt = 0;
            void again();
          } else {
            later();
          }
        }
      },
    });
    line = mine;
  };
  const retry = (): void => {
    if (status === "lost") {
      void again();
    }
  };
  window.addEventListener("online", retry);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") {
      retry();
    }
  });
  open();
  return {
    get status() {
      return status;
    },
    send(frame) {
      if (status !== "open" || line === null) {
        return false;
      }
      line.send(frame);
      return true;
    },
    retry,
    end: () => end(),
  };
}
