/** The SharedWorker of conserve mode, which knows the open pages of one session. */

/** A page that does not answer in this time has crashed. */
const CALL_MS = 3000;

interface Page {
  readonly port: MessagePort;
  registered: boolean;
}

const pages = new Set<Page>();
/** The pages that wait for an answer to "ask", with their timeouts. */
const asking = new Map<Page, ReturnType<typeof setTimeout>>();

/** Ping the other pages. Heartbeats would not do: browsers throttle timers of hidden pages to one a minute. */
function ask(page: Page): void {
  const others = [...pages].filter((other) => other !== page && other.registered);
  if (others.length === 0) {
    answer(page, false);
    return;
  }
  const giveUp = (): void => {
    others.forEach((silent) => pages.delete(silent));
    answer(page, false);
  };
  asking.set(page, setTimeout(giveUp, CALL_MS));
  others.forEach((other) => other.port.postMessage("call"));
}

function answer(page: Page, elsewhere: boolean): void {
  clearTimeout(asking.get(page));
  asking.delete(page);
  page.port.postMessage({ elsewhere });
}

function here(page: Page): void {
  for (const asker of asking.keys()) {
    if (asker !== page) {
      answer(asker, true);
    }
  }
}

function tell(from: Page, message: string): void {
  for (const other of pages) {
    if (other !== from && other.registered) {
      other.port.postMessage(message);
    }
  }
}

function receive(page: Page, message: unknown): void {
  if (message === "bye") {
    pages.delete(page);
    return;
  }
  pages.add(page);
  if (message === "ask") {
    ask(page);
  } else if (message === "here") {
    here(page);
  } else if (message === "register") {
    page.registered = true;
  } else if (message === "duplicate") {
    tell(page, "duplicate");
  }
}

const scope = self as unknown as { onconnect: (event: MessageEvent) => void };

scope.onconnect = (event) => {
  const port = event.ports[0];
  if (port === undefined) {
    return;
  }
  const page: Page = { port, registered: false };
  port.onmessage = (message) => receive(page, message.data);
  port.start();
};

export {}; // makes this file a module, so that its names are its own
