/** The SharedWorker of conserve mode: knows which pages of one session are alive. */

/** How long a page that stopped calling still counts; pages call every second. */
const SILENCE_MS = 3500;

interface Page {
  readonly port: MessagePort;
  readonly id: string;
  seen: number;
  registered: boolean;
}

const pages = new Set<Page>();

function others(page: Page): number {
  const oldest = Date.now() - SILENCE_MS;
  let count = 0;
  for (const other of pages) {
    if (other.seen < oldest) {
      pages.delete(other);
    } else if (other.registered && other.id !== page.id) {
      count += 1;
    }
  }
  return count;
}

function tell(from: Page, message: string): void {
  for (const other of pages) {
    if (other !== from && other.registered) {
      other.port.postMessage(message);
    }
  }
}

function receive(page: Page, message: unknown): void {
  page.seen = Date.now();
  if (message === "count") {
    page.port.postMessage({ others: others(page) });
  } else if (message === "register") {
    page.registered = true;
  } else if (message === "duplicate") {
    tell(page, "duplicate");
  } else if (message === "bye") {
    pages.delete(page);
  }
  if (message !== "bye") {
    pages.add(page);
  }
}

const scope = self as unknown as { onconnect: (event: MessageEvent) => void };

scope.onconnect = (event) => {
  const port = event.ports[0];
  if (port === undefined) {
    return;
  }
  const page: Page = { port, id: crypto.randomUUID(), seen: Date.now(), registered: false };
  pages.add(page);
  port.onmessage = (message) => receive(page, message.data);
  port.start();
};
