/** One line to the server that comes back by itself, for as long as the page is open. */
import type { Dial, Transport } from "./transport";

export type Status = "connecting" | "open" | "lost" | "ended";

export interface ConnectionEvents {
  /** A new transport is open; the server knows nothing of this page yet. */
  opened(requested: boolean): void;
  frame(text: string): void;
  /** `reason` is what the server said when it ended the session. */
  status(status: Status, reason: string): void;
}

/** Seconds to wait before each attempt; the last one repeats. */
const RETRY_SECONDS = [1, 2, 4, 8, 16, 30];
/** A connection that was open for less than this counts as a failed attempt, so that a server that accepts and hangs up is not asked without end. */
const STABLE_MS = 3000;

export interface Connection {
  readonly status: Status;
  send(frame: string): boolean;
  /** Try now instead of after the wait. */
  retry(): void;
  end(): void;
}

/** Connect with `dial`; `probe` says whether the session still exists when a transport could not be opened. */
export function connect(dial: Dial, events: ConnectionEvents, probe: () => Promise<boolean>): Connection {
  let status: Status = "connecting";
  let transport: Transport | null = null;
  let attempt = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const setStatus = (next: Status, reason = ""): void => {
    if (status !== next) {
      status = next;
      events.status(next, reason);
    }
  };
  const end = (reason = ""): void => {
    clearTimeout(timer);
    transport?.close();
    transport = null;
    setStatus("ended", reason);
  };
  const scheduleRetry = (): void => {
    const wait = RETRY_SECONDS[Math.min(attempt, RETRY_SECONDS.length - 1)] ?? 30;
    attempt += 1;
    clearTimeout(timer);
    timer = setTimeout(() => void reconnect(), wait * 1000);
  };
  const reconnect = async (): Promise<void> => {
    clearTimeout(timer);
    try {
      if (!(await probe())) {
        end();
        return;
      }
    } catch {
      scheduleRetry();
      return;
    }
    if (transport === null && status !== "ended") {
      open();
    }
  };
  const open = (): void => {
    let opened: number | null = null;
    const opening = dial({
      open(requested = false) {
        opened = Date.now();
        transport = opening;
        setStatus("open");
        events.opened(requested);
      },
      frame: (text) => events.frame(text),
      closed(ended, reason = "") {
        // A line that was replaced has nothing to say any more.
        if (transport !== null && transport !== opening) {
          return;
        }
        transport = null;
        if (ended) {
          end(reason);
        } else {
          setStatus("lost");
          if (opened !== null && Date.now() - opened >= STABLE_MS) {
            attempt = 0;
            void reconnect();
          } else {
            scheduleRetry();
          }
        }
      },
    });
    transport = opening;
  };
  const retry = (): void => {
    if (status === "lost") {
      void reconnect();
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
      if (status !== "open" || transport === null) {
        return false;
      }
      transport.send(frame);
      return true;
    },
    retry,
    end: () => end(),
  };
}
