"""Every error this program raises on purpose.

UiMcpError
├── ConfigError              a setting or configuration file is wrong
├── LifecycleError
│   ├── NotConfiguredError   "Server not configured: REASON"
│   ├── NotStartedError      "Server not started"
│   └── AlreadyRunningError  "Server already running", or another process runs this directory
├── NotFoundError            a session, app, resource or tool that is not there
├── InvalidArgumentsError    arguments that do not fit the tool's schema
│   └── TooDeepError         arguments that are nested too deeply to be handled at all
├── RefusedError             a path, name or request we do not serve, for safety
├── InstallError             a bundled file could not be written
├── DiskError                a file of the project could not be written
├── LuaError                 code in an app failed
│   ├── LuaSyntaxError
│   ├── LuaTimeoutError
│   └── LuaMemoryError
├── SessionGoneError         the session ended while work was waiting for it
├── ViewdefError             a template that cannot be compiled
├── WireError                a frame or message we cannot read
├── ChatError                posting or reading a conversation failed
├── CompositorError          a mounted server or API
│   ├── MountError
│   ├── DeniedError
│   └── UpstreamError
├── AgentError               the agent loop or its model
└── IntrospectError          looking at or operating a UI; each kind has its code in the contract
    ├── UiNotEnabledError    MCP_UI_NOT_ENABLED
    ├── UiNoStagesError      MCP_UI_NO_STAGES
    ├── UiNodeNotFoundError  MCP_UI_NODE_NOT_FOUND
    ├── UiStaleRefError      MCP_UI_STALE_REF
    ├── UiActionFailedError  MCP_UI_ACTION_FAILED
    ├── UiTimeoutError       MCP_UI_TIMEOUT
    └── UiArgumentError      MCP_UI_INVALID_ARGUMENT

The first line of a message is complete by itself; further lines give the reason or the way out.
Three places turn these outward: mcpd/results, httpd and cli/main.
"""

import errno

DISK_ERRNOS = frozenset({errno.EROFS, errno.ENOSPC, errno.EDQUOT})
"""Read-only, full, or full for this user."""

DISK_HINT = "Make room on its disk, or make the disk writable, and try again; nothing has to be started anew."
_OF_THE_DISK = ("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN")


def hint(error: Exception) -> str:
    """Return the further line of a message about a disk that failed; nothing when it was something else."""
    failed = isinstance(error, OSError) or getattr(error, "sqlite_errorname", "").startswith(_OF_THE_DISK)
    return f"\n{DISK_HINT}" if failed else ""


class UiMcpError(Exception):
    """Something the user or the agent can act on; `code` is stable, `details` are facts for programs."""

    code = "error"

    def __init__(self, message: str, **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.details = details


class ConfigError(UiMcpError):
    """A setting or configuration file is wrong."""

    code = "config"


class LifecycleError(UiMcpError):
    """The server is in another state than this needs."""

    code = "lifecycle"


class NotConfiguredError(LifecycleError):
    """No usable base directory."""

    code = "not-configured"


class NotStartedError(LifecycleError):
    """The UI server does not run yet."""

    code = "not-started"

    def __init__(self, message: str = "Server not started", **details: object) -> None:
        super().__init__(message, **details)


class AlreadyRunningError(LifecycleError):
    """This directory is being served already."""

    code = "already-running"

    def __init__(self, message: str = "Server already running", **details: object) -> None:
        super().__init__(message, **details)


class NotFoundError(UiMcpError):
    """The named thing is not there."""

    code = "not-found"


class InvalidArgumentsError(UiMcpError):
    """Arguments that do not fit the tool's schema."""

    code = "invalid-arguments"


class TooDeepError(InvalidArgumentsError):
    """Arguments that are nested too deeply to be compared or written down."""


class RefusedError(UiMcpError):
    """Not served, for safety."""

    code = "refused"


class InstallError(UiMcpError):
    """A bundled file could not be written."""

    code = "install"


class DiskError(UiMcpError):
    """A file could not be written; says which, why, and what helps."""

    code = "disk"

    def __init__(self, doing: str, error: OSError, **details: object) -> None:
        super().__init__(f"{doing}: {error.strerror or error}\n{DISK_HINT}", **details)


class LuaError(UiMcpError):
    """Code in an app failed; `details["traceback"]` says where."""

    code = "lua-error"


class LuaSyntaxError(LuaError):
    """Code that does not compile."""

    code = "lua-syntax"


class LuaTimeoutError(LuaError):
    """Code that ran longer than its budget."""

    code = "timeout"


class LuaMemoryError(LuaError):
    """Code that wanted more memory than its session may have."""

    code = "memory"


class SessionGoneError(UiMcpError):
    """The session ended while work was waiting for it."""

    code = "session-gone"


class ViewdefError(UiMcpError):
    """A template that cannot be compiled."""

    code = "viewdef"


class WireError(UiMcpError):
    """A frame or message we cannot read."""

    code = "invalid"


class ChatError(UiMcpError):
    """Posting to or reading from a conversation failed; `code` says why, e.g. `content_too_large`."""

    def __init__(self, message: str, code: str, **details: object) -> None:
        super().__init__(message, **details)
        self.code = code


class GatewayError(UiMcpError):
    """A mounted server or API failed or refused."""

    code = "compositor"


class MountError(GatewayError):
    """A server or API could not be mounted."""

    code = "mount"


class DeniedError(GatewayError):
    """Policy or a person said no."""

    code = "denied"


class UpstreamError(GatewayError):
    """The mounted server or API answered with an error, or not at all."""

    code = "upstream"


class AgentError(UiMcpError):
    """The agent loop or its model failed."""

    code = "agent"


class IntrospectError(UiMcpError):
    """Looking at or operating a UI failed; `code` is one of the contract's MCP_UI_* codes."""

    code = "MCP_UI_INTERNAL"


class UiNotEnabledError(IntrospectError):
    """This UI may not be looked at; `details["reason"]` says why."""

    code = "MCP_UI_NOT_ENABLED"


class UiNoStagesError(IntrospectError):
    """The program shows no window."""

    code = "MCP_UI_NO_STAGES"


class UiNodeNotFoundError(IntrospectError):
    """A reference nobody handed out."""

    code = "MCP_UI_NODE_NOT_FOUND"


class UiStaleRefError(IntrospectError):
    """A reference to something that is no longer there."""

    code = "MCP_UI_STALE_REF"


class UiActionFailedError(IntrospectError):
    """An action was refused or failed; `details["reason"]` says why."""

    code = "MCP_UI_ACTION_FAILED"


class UiTimeoutError(IntrospectError):
    """The UI did not answer in time."""

    code = "MCP_UI_TIMEOUT"


class UiArgumentError(IntrospectError):
    """A selector, index, cursor or name that makes no sense."""

    code = "MCP_UI_INVALID_ARGUMENT"


class ApprovalError(GatewayError):
    """An answer that cannot be taken; `code` says why."""

    code = "approval"


class AlreadyDecidedError(ApprovalError):
    """Somebody else was first."""

    code = "already_decided"


class DigestMismatchError(ApprovalError):
    """The answer is about another call than the one that is waiting."""

    code = "digest_mismatch"


class ExpiredError(ApprovalError):
    """The time to answer is over."""

    code = "expired"


class UnknownApprovalError(ApprovalError):
    """There is no such approval."""

    code = "unknown_approval"


class LeaseLostError(AgentError):
    """Another orchestrator has taken over."""

    code = "lease-lost"


class JournalError(AgentError):
    """The journal cannot be read or written now: its disk is full or read-only, or its database is away."""

    code = "journal"


class ModelError(AgentError):
    """The model could not answer; the message is fit to show, `details["status"]` is the HTTP status, if any."""

    code = "model"


class UnknownToolError(UiMcpError):
    """No tool of that name."""

    code = "unknown-tool"

    def __init__(self, name: str) -> None:
        super().__init__(f"Unknown tool: {name}", name=name)


class ResourceNotFoundError(NotFoundError):
    """No such resource, or one we do not serve."""

    code = "resource-not-found"

    def __init__(self, uri: str, message: str | None = None) -> None:
        super().__init__(message or f"Resource not found: {uri}", uri=uri)
        self.uri = uri


class DisplayError(UiMcpError):
    """The app could not be shown."""

    code = "display"


class EventQueueFullError(UiMcpError):
    """Nobody drains the queue; nothing is dropped silently."""

    code = "event-queue-full"

    def __init__(self) -> None:
        super().__init__("event queue full")
