-- Constants of the wire between page, server and Lua. Written by scripts/wire.py from contracts/wire.json.
local E = ...
local setmetatable, error, tostring = setmetatable, error, tostring

-- A misspelt name raises an error instead of being nil.
local function constants(kind, values)
  return setmetatable(values, {
    __index = function(_, name) error("the wire has no " .. kind .. " " .. tostring(name), 2) end,
  })
end

E.wire = {
  op = constants("op", {
    START = "start",
    OPEN = "open",
    CLOSE = "close",
    FRAME = "frame",
    RUN = "run",
    CONSOLE = "console",
    DISPLAY = "display",
    TIMER = "timer",
    CHECK = "check",
    RELOAD = "reload",
    PUBLISHED = "published",
    VIEWDEFS = "viewdefs",
    REFRESH = "refresh",
    STATE = "state",
    VARIABLES = "variables",
    CHANGES = "changes",
    RESTORE = "restore",
    PATCH = "patch",
  }),
  output = constants("output", {
    EVENT = "event",
    TIMER = "timer",
    CANCEL = "cancel",
    DISPLAYED = "displayed",
    LOAD_ERROR = "load_error",
    LOADED = "loaded",
    THEMES = "themes",
    SUBSCRIBED = "subscribed",
    REFUSED = "refused",
    NOTICE = "notice",
    PROGRESS = "progress",
    PROBLEM = "problem",
    RESOLVED = "resolved",
    VIEWED = "viewed",
    ALIAS = "alias",
  }),
  message = constants("message", {
    CREATE = "create",
    UPDATE = "update",
    DESTROY = "destroy",
    WATCH = "watch",
    UNWATCH = "unwatch",
    ERROR = "error",
    VIEW = "view",
    SAVED = "saved",
    HISTORY = "history",
    LOOK = "look",
    LOOKED = "looked",
  }),
  property = constants("property", {
    TYPE = "type",
    FALLBACK_NAMESPACE = "fallbackNamespace",
    VIEWDEFS = "viewdefs",
    NOTICE = "notice",
    DOWNLOAD = "download",
    PROBLEMS = "problems",
    EDITABLE = "editable",
    ADDRESS = "address",
  }),
  fault = constants("fault", {
    LUA_ERROR = "lua-error",
    LUA_SYNTAX = "lua-syntax",
    TIMEOUT = "timeout",
    MEMORY = "memory",
    NOT_FOUND = "not-found",
    INVALID = "invalid",
    UNAUTHORIZED = "unauthorized",
    PATH_FAILURE = "path-failure",
    UNKNOWN_TYPE = "unknown-type",
  }),
}
