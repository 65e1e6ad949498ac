/** The WebSocket transport. */
import type { Dial } from "./transport";

/** Close code of a server that ended the session. */
const SESSION_ENDED = 4404;

/** Dial a WebSocket address. */
export function socket(url: string): Dial {
  return (listener) => {
    const line = new WebSocket(url);
    line.onopen = () => listener.open();
    line.onmessage = (event) => listener.frame(String(event.data));
    line.onclose = (event) => listener.closed(event.code === SESSION_ENDED);
    return {
      send: (frame) => line.send(frame),
      close() {
        line.onclose = null;
        line.onmessage = null;
        line.close();
      },
    };
  };
}
