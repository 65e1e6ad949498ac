/** Upgrades long polling to a WebSocket where the host's policy allows connections to the loopback address. */
import type { Upgrade } from "../transport/sync";
import type { Transport } from "../transport/transport";
import { FINAL } from "../wire.gen";

/** Browsers may block loopback requests without an error event. */
const TIMEOUT_MS = 300;

/** Try the offered URL if its origin is among `domains`. */
export function socketUpgrade(domains: readonly string[]): Upgrade {
  return (offer, listener) =>
    new Promise<Transport | null>((resolve) => {
      const { origin } = new URL(offer.url);
      if (!domains.some((domain) => offer.url.startsWith(domain) || domain === origin)) {
        resolve(null);
        return;
      }
      let socket: WebSocket;
      try {
        socket = new WebSocket(`${offer.url}?token=${encodeURIComponent(offer.token)}`);
      } catch {
        resolve(null);
        return;
      }
      const giveUp = (): void => {
        socket.onopen = socket.onerror = socket.onclose = null;
        socket.close();
        resolve(null);
      };
      const timer = setTimeout(giveUp, TIMEOUT_MS);
      socket.onerror = () => {
        clearTimeout(timer);
        giveUp();
      };
      socket.onopen = () => {
        clearTimeout(timer);
        socket.onerror = null;
        socket.onmessage = (event) => listener.frame(String(event.data));
        socket.onclose = (event) => listener.closed(FINAL.has(event.code), event.reason);
        resolve({ send: (frame) => socket.send(frame), close: () => socket.close() });
        queueMicrotask(() => listener.open());
      };
    });
}
