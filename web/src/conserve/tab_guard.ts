/** Conserve mode: finds out whether the session is open in another tab before the app starts. */

/** Longer than the worker's own timeout, so it passes only if the worker does not run. */
const ANSWER_MS = 5000;

/** A page's connection to the worker of its session. */
export interface TabGuard {
  /** Resolve to whether another page of this session is open. */
  elsewhere(): Promise<boolean>;
  /** Answer the worker's pings from now on. */
  register(): void;
  /** Notify the open pages that another one was refused. */
  announceDuplicate(): void;
  /** Call `act` when another page was refused. */
  onDuplicate(act: () => void): void;
}

const UNGUARDED: TabGuard = {
  elsewhere: () => Promise.resolve(false),
  register: () => undefined,
  announceDuplicate: () => undefined,
  onDuplicate: () => undefined,
};

/** Connect to the worker of `session`. Without SharedWorker every page may start. */
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
