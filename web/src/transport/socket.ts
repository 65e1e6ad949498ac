/** The WebSocket transport. */
import { FINAL } from "../wire.gen";
import type { Dial, Listener, Transport } from "./transport";

/** A socket that index.html opened before this script was loaded, with the frames received so far; its address asks for the page. */
interface EarlySocket {
  readonly ws: WebSocket;
  readonly frames: string[];
}

declare global {
  interface Window {
    uiEarly?: EarlySocket | undefined;
  }
}

/** Connect to a WebSocket URL; the first time, adopt the socket that is open already. */
export function webSocket(url: string): Dial {
  return (listener) => {
    const early = window.uiEarly;
    window.uiEarly = undefined;
    const usable = early !== undefined && early.ws.url.startsWith(`${url}&watch=`) && early.ws.readyState <= WebSocket.OPEN;
    return usable ? adopt(early, listener) : wrap(new WebSocket(url), listener, () => listener.open());
  };
}

/** Continue with the early socket, which has asked for the page already. */
function adopt({ ws: socket, frames }: EarlySocket, listener: Listener): Transport {
  const transport = wrap(socket, listener, () => listener.open(true));
  if (socket.readyState === WebSocket.OPEN) {
    // In a microtask, as the caller does not have the transport yet.
    queueMicrotask(() => {
      listener.open(true);
      frames.forEach((frame) => listener.frame(frame));
    });
  }
  return transport;
}

function wrap(socket: WebSocket, listener: Listener, opened: () => void): Transport {
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
