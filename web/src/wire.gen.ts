/** Constants of the wire between page, server and Lua. Written by scripts/wire.py from contracts/wire.json. */

/** The server stops. */
export const GOING_AWAY = 1001;
/** The session's Lua was restarted. */
export const RESTARTED = 1012;
/** The page did not read what was sent. */
export const FELL_BEHIND = 1013;
/** The session is over: the page says so and stays away. */
export const SESSION_ENDED = 4001;

/** After these a page does not reconnect. */
export const FINAL: ReadonlySet<number> = new Set([SESSION_ENDED]);

export const NOTICE_RESTARTED = "session_restarted";
export const NOTICE_LOAD_ERROR = "load_error";
export const NOTICE_LOADED = "load_mended";
export const NOTICE_ENDED = "session_ended";

/** Types of the messages that the page sends. */
export type PageMessageType = "create" | "update" | "destroy" | "watch" | "unwatch" | "looked";

/** Types of the messages that the server sends. */
export type ServerMessageType = "update" | "destroy" | "error" | "view" | "look";

/** Codes of errors. */
export type FaultCode = "lua-error" | "lua-syntax" | "timeout" | "memory" | "not-found" | "invalid" | "unauthorized" | "path-failure" | "unknown-type";
