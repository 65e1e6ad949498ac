/** The WebSocket as an upgrade of the long poll, where the host's policy lets us reach the loopback address. */
import type { Upgrade } from "../transport/sync";
import type { Transport } from "../transport/transport";
import { FINAL } from "../wire.gen";

/** Blocked loopback requests may stay silent; only the clock tells. */
const PATIENCE_MS = 300;

/** Try the offered socket if its origin is among `domains`. */
export function socketUpgrade(domains: readonly string[]): Upgrade {
  return (offer, listener) =>
    new Promise<Transport | null>((resolve) => {
      const { origin } = new URL(offer.url);
      if (!domains.some((domain) => offer.url.startsWith(domain) || domain === origin)) {
        resolve(null);
        return;
      }
      let line: WebSocket;
      try {
        line = new WebSocket(`${offer.url}?token=${encodeURIComponent(offer.token)}`);
      } catch {
        resolve(null);
        return;
      }
      const give = (): void => {
        line.onopen = line.onerror = line.onclose = null;
        line.close();
        resolve(null);
      };
      const timer = setTimeout(give, PATIENCE_MS);
      line.onerror = () => {
        clearTimeout(timer);
        give();
      };
      line.onopen = () => {
        clearTimeout(timer);
        line.onerror = null;
        line.onmessage = (event) => listener.frame(String(event.data));
        line.onclose = (event) => listener.closed(FINAL.has(event.code), event.reason);
        resolve({ send: (frame) => line.send(frame), close: () => line.close() });
        queueMicrotask(() => listener.open());
      };
    });
}
