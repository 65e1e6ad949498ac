/** The connection to the server, which reconnects for as long as the page is open. */
import type { Dial, Transport } from "./transport";

export type Status = "connecting" | "open" | "lost" | "ended";

export interface ConnectionEvents {
  /** A new transport is open, for which the server has no state of this page; `requested` if it has asked for the page. */
  opened(requested: boolean): void;
  frame(text: string): void;
  /** `reason` is what the server gave when it ended the session. */
  status(status: Status, reason: string): void;
}

/** Seconds before each attempt; the last one repeats. */
const RETRY_SECONDS = [1, 2, 4, 8, 16, 30];
/** A connection that was open for less than this counts as failed, so that back-off also applies to a server that accepts and hangs up. */
const STABLE_MS = 3000;

export interface Connection {
  readonly status: Status;
  send(frame: string): boolean;
  /** Reconnect now instead of after the back-off. */
  retry(): void;
  end(): void;
}

/** Connect by `dial`. Before each further attempt `probe` finds out whether the session still exists. */
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
        // Ignore a transport that has been replaced.
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
