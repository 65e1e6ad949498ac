"""Constants of the wire between page, server and Lua. Written by scripts/wire.py from contracts/wire.json."""

from enum import StrEnum

GOING_AWAY = 1001
"""The server is shutting down."""
RESTARTED = 1012
"""The session's Lua was restarted."""
FELL_BEHIND = 1013
"""The page did not read fast enough."""
SESSION_ENDED = 4001
"""The session has ended: the page says so and does not reconnect."""

FINAL = frozenset({SESSION_ENDED})
"""After these a page does not reconnect."""

NOTICE_APP = "app"
NOTICE_RESTARTED = "session_restarted"
NOTICE_LOAD_ERROR = "load_error"
NOTICE_LOADED = "load_recovered"
NOTICE_ENDED = "session_ended"
NOTICE_UNSAVED = "state_not_saved"
NOTICE_REFUSED = "permission_denied"


class Op(StrEnum):
    """What a Lua worker can be asked to do."""

    START = "start"
    """Run main.lua, mcp.lua and the init.lua of every app. Result: true."""
    OPEN = "open"
    """(conn) A page has connected; the session numbers its pages."""
    CLOSE = "close"
    """(conn) The page has disconnected: drop its variables."""
    FRAME = "frame"
    """(conn, text) Handle what the page sent."""
    RUN = "run"
    """(code) Run a chunk of Lua. Result: the first returned value, or {"non-json": text}."""
    CONSOLE = "console"
    """(code) Run an expression or a chunk as a console does, with what it prints. Result: {values, printed, error?}."""
    DISPLAY = "display"
    """(name) Show an app. Result: null, or {note, viewdef} if nothing is shown."""
    TIMER = "timer"
    """(handle) A timer is due. Result: whether the timer was still set."""
    CHECK = "check"
    """(name, text) Compile a Lua text without running it; the fault says what is wrong. Result: whether it compiles."""
    RELOAD = "reload"
    """(path) A Lua file has changed: run it again. Result: whether the session had loaded it."""
    PUBLISHED = "published"
    """(topic, text) JSON was published under a topic. Result: whether the session has subscribed."""
    VIEWDEFS = "viewdefs"
    """(text) Take new or changed viewdefs: JSON of key to [html, bindings, app or null], or false if it is gone."""
    REFRESH = "refresh"
    """Detect changes, nothing else."""
    STATE = "state"
    """Return mcp.state, else mcp.value."""
    VARIABLES = "variables"
    """Return the list of all variables."""
    CHANGES = "changes"
    """(whole) Return what has changed since the last time, or the whole state. Result: records (state.lua)."""
    RESTORE = "restore"
    """(text) Bring the state back that the records describe. Result: what could not be restored, a list of texts."""


class OutputKind(StrEnum):
    """What a Lua worker sends besides its replies."""

    EVENT = "event"
    """An event for the agent."""
    TIMER = "timer"
    """A timer was set; the number is its delay in seconds."""
    CANCEL = "cancel"
    """A timer was cleared."""
    DISPLAYED = "displayed"
    """An app is displayed."""
    LOAD_ERROR = "load_error"
    """A file failed to load."""
    LOADED = "loaded"
    """A file that failed before was loaded."""
    THEMES = "themes"
    """The pages have to load their themes again."""
    SUBSCRIBED = "subscribed"
    """An app subscribed to a topic."""
    REFUSED = "refused"
    """A permission was refused."""
    NOTICE = "notice"
    """A message for the person: {level, text}."""
    PROGRESS = "progress"
    """What the agent has announced changed: {todos} or {app, progress, stage}."""
    ALIAS = "alias"
    """An app linked a path below html/ to a file or directory: {name, target}."""


class MessageType(StrEnum):
    """Types of the messages between page and server."""

    CREATE = "create"
    """Create a variable and, unless nowatch, watch it."""
    UPDATE = "update"
    """Set a variable's value or properties; with neither, render it again."""
    DESTROY = "destroy"
    """Remove a variable and those below it."""
    WATCH = "watch"
    """Send the variable from now on."""
    UNWATCH = "unwatch"
    """Stop sending the variable."""
    ERROR = "error"
    """A variable or a message failed."""
    VIEW = "view"
    """Put a finished view into a position; only after watch with expand."""
    SAVED = "saved"
    """The effects of the first frames that the page has sent on this connection are saved."""
    LOOK = "look"
    """Ask the page what it shows."""
    LOOKED = "looked"
    """Answer to a look."""


class Property(StrEnum):
    """Properties that the server or the engine acts on."""

    TYPE = "type"
    """Type of the object that a variable holds."""
    FALLBACK_NAMESPACE = "fallbackNamespace"
    """Namespace to look in when a viewdef is not in the variable's own."""
    VIEWDEFS = "viewdefs"
    """On variable 1: viewdefs for the page, a JSON object of key to HTML."""
    NOTICE = "notice"
    """On variable 1: a message for the person, JSON."""
    EDITABLE = "editable"
    """On variable 1, from the page: bindings of a viewdef that have a value property."""


class FaultCode(StrEnum):
    """Why an operation or a message failed."""

    LUA_ERROR = "lua-error"
    """Code of an app raised an error."""
    LUA_SYNTAX = "lua-syntax"
    """Code does not compile."""
    TIMEOUT = "timeout"
    """Code ran longer than lua.max_seconds."""
    MEMORY = "memory"
    """Code needed more than lua.max_memory_mb."""
    NOT_FOUND = "not-found"
    """The app, connection, variable or file does not exist."""
    INVALID = "invalid"
    """A frame, message, path or viewdef is malformed."""
    UNAUTHORIZED = "unauthorized"
    """The variable is read-only."""
    PATH_FAILURE = "path-failure"
    """There is nothing at the path to write to."""
    UNKNOWN_TYPE = "unknown-type"
    """A message has an unknown type."""
