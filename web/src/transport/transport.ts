/** The interface of transports: WebSocket, or long polling inside an MCP host. */

export interface Transport {
  send(frame: string): void;
  close(): void;
}

export interface Listener {
  /** The transport is open; `requested` if it has already asked for the page. */
  open(requested?: boolean): void;
  frame(text: string): void;
  /** The transport has closed; `ended` if the session is over, for the given reason. */
  closed(ended: boolean, reason?: string): void;
}

export type Dial = (listener: Listener) => Transport;
