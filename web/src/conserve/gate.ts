/** Conserve mode: finds out whether the session is open elsewhere before anything else starts. */

const ANSWER_MS = 1000;
const BEAT_MS = 1000;

/** A page's line to the worker of its session; every call is harmless when there is no worker. */
export interface Gate {
  /** Count the other live pages of this session. */
  others(): Promise<number>;
  /** Count this page as alive from now on. */
  register(): void;
  /** Tell the pages already open that someone tried to open another. */
  announceDuplicate(): void;
  /** Run `act` when another page was turned away. */
  onDuplicate(act: () => void): void;
}

const OPEN: Gate = {
  others: () => Promise.resolve(0),
  register: () => undefined,
  announceDuplicate: () => undefined,
  onDuplicate: () => undefined,
};

/** Connect to the worker unique to `session` and origin; without SharedWorker the page loads normally. */
export function openGate(session: string): Gate {
  try {
    const worker = new SharedWorker(new URL("./worker.ts", import.meta.url), {
      type: "module",
      name: `ui-session-${session}`,
    });
    worker.onerror = () => undefined;
    worker.port.start();
    return gateOver(worker.port);
  } catch {
    return OPEN;
  }
}

function gateOver(port: MessagePort): Gate {
  window.addEventListener("pagehide", () => port.postMessage("bye"));
  return {
    others: () => ask(port),
    register() {
      port.postMessage("register");
      setInterval(() => port.postMessage("alive"), BEAT_MS);
      window.addEventListener("pageshow", () => port.postMessage("register"));
    },
    announceDuplicate: () => port.postMessage("duplicate"),
    onDuplicate(act) {
      port.addEventListener("message", (event) => {
        if (event.data === "duplicate") {
          act();
        }
      });
    },
  };
}

function ask(port: MessagePort): Promise<number> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(0), ANSWER_MS);
    port.addEventListener("message", (event) => {
      if (typeof event.data === "object") {
        clearTimeout(timer);
        resolve(Number(event.data.others) || 0);
      }
    });
    port.postMessage("count");
  });
}
