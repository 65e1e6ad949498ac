/** How frames reach the server: a socket, or a long poll inside an MCP host. */

export interface Transport {
  send(frame: string): void;
  close(): void;
}

export interface Listener {
  /** The line is open; `requested` when it has asked for the page already. */
  open(requested?: boolean): void;
  frame(text: string): void;
  /** The connection is gone; `ended` when the session will not come back, for the reason the server gave. */
  closed(ended: boolean, reason?: string): void;
}

export type Dial = (listener: Listener) => Transport;
