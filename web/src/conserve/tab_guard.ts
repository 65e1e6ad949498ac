/** Conserve mode: finds out whether the session is open elsewhere before anything else starts. */

/** Longer than the worker waits for the other pages; only one that cannot run stays silent. */
const ANSWER_MS = 5000;

/** A page's line to the worker of its session; every call is harmless when there is no worker. */
export interface TabGuard {
  /** Find out whether another page of this session is alive. */
  elsewhere(): Promise<boolean>;
  /** Say when asked that this page is alive, from now on. */
  register(): void;
  /** Tell the pages already open that someone tried to open another. */
  announceDuplicate(): void;
  /** Run `act` when another page was turned away. */
  onDuplicate(act: () => void): void;
}

const UNGUARDED: TabGuard = {
  elsewhere: () => Promise.resolve(false),
  register: () => undefined,
  announceDuplicate: () => undefined,
  onDuplicate: () => undefined,
};

/** Connect to the worker unique to `session` and origin; without SharedWorker the page loads normally. */
export function openTabGuard(session: string): TabGuard {
  try {
    const worker = new SharedWorker(new URL("./worker.ts", import.meta.url), {
      type: "module",
      name: `ui-session-${session}`,
    });
    worker.port.start();
    return guardOver(worker);
  } catch {
    return UNGUARDED;
  }
}

function guardOver(worker: SharedWorker): TabGuard {
  const { port } = worker;
  const on = (message: string, act: () => void): void =>
    port.addEventListener("message", (event) => {
      if (event.data === message) {
        act();
      }
    });
  window.addEventListener("pagehide", () => port.postMessage("bye"));
  return {
    elsewhere: () => ask(worker),
    register() {
      on("call", () => port.postMessage("here"));
      port.postMessage("register");
      window.addEventListener("pageshow", () => port.postMessage("register"));
    },
    announceDuplicate: () => port.postMessage("duplicate"),
    onDuplicate: (act) => on("duplicate", act),
  };
}

function ask(worker: SharedWorker): Promise<boolean> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(false), ANSWER_MS);
    worker.addEventListener("error", () => resolve(false));
    worker.port.addEventListener("message", ({ data }: MessageEvent<string | { readonly elsewhere: boolean }>) => {
      if (typeof data === "object") {
        resolve(data.elsewhere);
      }
    });
    worker.port.postMessage("ask");
  });
}
