/** Constants of the wire between page, server and Lua. Written by scripts/wire.py from contracts/wire.json. */

/** The server is shutting down. */
export const GOING_AWAY = 1001;
/** The session's Lua was restarted. */
export const RESTARTED = 1012;
/** The page did not read fast enough. */
export const FELL_BEHIND = 1013;
/** The session has ended: the page says so and does not reconnect. */
export const SESSION_ENDED = 4001;

/** After these a page does not reconnect. */
export const FINAL: ReadonlySet<number> = new Set([SESSION_ENDED]);

export const NOTICE_APP = "app";
export const NOTICE_RESTARTED = "session_restarted";
export const NOTICE_LOAD_ERROR = "load_error";
export const NOTICE_LOADED = "load_recovered";
export const NOTICE_ENDED = "session_ended";
export const NOTICE_UNSAVED = "state_not_saved";
export const NOTICE_REFUSED = "permission_denied";

export const MESSAGE_CREATE = "create";
export const MESSAGE_UPDATE = "update";
export const MESSAGE_DESTROY = "destroy";
export const MESSAGE_WATCH = "watch";
export const MESSAGE_UNWATCH = "unwatch";
export const MESSAGE_ERROR = "error";
export const MESSAGE_VIEW = "view";
export const MESSAGE_SAVED = "saved";
export const MESSAGE_HISTORY = "history";
export const MESSAGE_LOOK = "look";
export const MESSAGE_LOOKED = "looked";

export const PROPERTY_TYPE = "type";
export const PROPERTY_FALLBACK_NAMESPACE = "fallbackNamespace";
export const PROPERTY_VIEWDEFS = "viewdefs";
export const PROPERTY_NOTICE = "notice";
export const PROPERTY_DOWNLOAD = "download";
export const PROPERTY_PROBLEMS = "problems";
export const PROPERTY_EDITABLE = "editable";
export const PROPERTY_ADDRESS = "address";
