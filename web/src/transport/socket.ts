/** The WebSocket transport. */
import { FINAL } from "../wire.gen";
import type { Dial, Listener, Transport } from "./transport";

/** A line that the page's head opened before this script was loaded, with what it has brought so far. */
interface Early {
  readonly line: WebSocket;
  readonly frames: string[];
}

declare global {
  interface Window {
    uiEarly?: Early | undefined;
  }
}

/** Dial a WebSocket address; the first time, take over the line that is open already. */
export function socket(url: string): Dial {
  return (listener) => {
    const early = window.uiEarly;
    window.uiEarly = undefined;
    const usable = early !== undefined && early.line.url === url && early.line.readyState <= WebSocket.OPEN;
    return usable ? takeOver(early, listener) : carry(new WebSocket(url), listener, () => listener.open());
  };
}

/** Go on with an early line: it has asked for the page by itself. */
function takeOver({ line, frames }: Early, listener: Listener): Transport {
  const asked = line.onopen;
  const transport = carry(line, listener, (event) => {
    asked?.call(line, event);
    listener.open(true);
  });
  if (line.readyState === WebSocket.OPEN) {
    // Later, as a socket would: the caller does not know its transport yet.
    queueMicrotask(() => {
      listener.open(true);
      frames.forEach((frame) => listener.frame(frame));
    });
  }
  return transport;
}

function carry(line: WebSocket, listener: Listener, opened: (event: Event) => void): Transport {
  line.onopen = opened;
  line.onmessage = (event) => listener.frame(String(event.data));
  line.onclose = (event) => listener.closed(FINAL.has(event.code), event.reason);
  return {
    send: (frame) => line.send(frame),
    close() {
      line.onclose = null;
      line.onmessage = null;
      line.close();
    },
  };
}
