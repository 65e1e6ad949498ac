/** The WebSocket transport. */
import { FINAL } from "../wire.gen";
import type { Dial, Listener, Transport } from "./transport";

/** A line that the page's head opened before this script was loaded, with what it has brought so far. */
interface EarlySocket {
  readonly ws: WebSocket;
  readonly frames: string[];
}

declare global {
  interface Window {
    uiEarly?: EarlySocket | undefined;
  }
}

/** Dial a WebSocket address; the first time, take over the line that is open already. */
export function webSocket(url: string): Dial {
  return (listener) => {
    const early = window.uiEarly;
    window.uiEarly = undefined;
    const usable = early !== undefined && early.ws.url === url && early.ws.readyState <= WebSocket.OPEN;
    return usable ? adopt(early, listener) : wrap(new WebSocket(url), listener, () => listener.open());
  };
}

/** Go on with an early socket: it has asked for the page by itself. */
function adopt({ ws: socket, frames }: EarlySocket, listener: Listener): Transport {
  const request = socket.onopen;
  const transport = wrap(socket, listener, (event) => {
    request?.call(socket, event);
    listener.open(true);
  });
  if (socket.readyState === WebSocket.OPEN) {
    // Later, as a socket would: the caller does not know its transport yet.
    queueMicrotask(() => {
      listener.open(true);
      frames.forEach((frame) => listener.frame(frame));
    });
  }
  return transport;
}

function wrap(socket: WebSocket, listener: Listener, opened: (event: Event) => void): Transport {
  socket.onopen = opened;
  socket.onmessage = (event) => listener.frame(String(event.data));
  socket.onclose = (event) => listener.closed(FINAL.has(event.code), event.reason);
  return {
    send: (frame) => socket.send(frame),
    close() {
      socket.onclose = null;
      socket.onmessage = null;
      socket.close();
    },
  };
}
