"""Every error that this program raises deliberately.

UiMcpError
├── ConfigError              a setting or configuration file is wrong
├── LifecycleError
│   ├── NotConfiguredError   "Server not configured: REASON"
│   ├── NotStartedError      "Server not started"
│   └── AlreadyRunningError  "Server already running", or another process runs this directory
├── NotFoundError            a session, app, resource or tool does not exist
├── InvalidArgumentsError    arguments do not fit the tool's schema
│   └── TooDeepError         arguments are nested too deeply
├── RefusedError             a path, name or request is refused for safety
├── InstallError             a bundled file could not be written
├── DiskError                a file of the project could not be written
├── LuaError                 code in an app failed
│   ├── LuaSyntaxError
│   ├── LuaTimeoutError
│   └── LuaMemoryError
├── SessionGoneError         the session ended while work was waiting for it
├── StateStoreError          the state of a session cannot be saved or read
│   └── SessionElsewhereError
├── ViewdefError             a template cannot be compiled
├── WireError                a frame or message cannot be decoded
├── ChatError                posting to or reading from a conversation failed
├── GatewayError             a mounted server or API failed or refused
│   ├── MountError
│   ├── DeniedError
│   └── UpstreamError
├── InboxError               the questions to the person cannot be stored or read
├── AgentError               the agent loop or its model failed
└── IntrospectError          inspecting or operating a UI failed; the codes are those of the contract
    ├── UiNotEnabledError    MCP_UI_NOT_ENABLED
    ├── UiNoStagesError      MCP_UI_NO_STAGES
    ├── UiNodeNotFoundError  MCP_UI_NODE_NOT_FOUND
    ├── UiStaleRefError      MCP_UI_STALE_REF
    ├── UiActionFailedError  MCP_UI_ACTION_FAILED
    ├── UiTimeoutError       MCP_UI_TIMEOUT
    └── UiArgumentError      MCP_UI_INVALID_ARGUMENT

The first line of a message is complete by itself; further lines give the reason or a hint.
Errors are turned into responses in three places: mcp_server/results, webserver/responses and cli/main.
"""

import errno

DISK_ERRNOS = frozenset({errno.EROFS, errno.ENOSPC, errno.EDQUOT})
"""Disk is read-only, full, or the user's quota is exceeded."""

DISK_HINT = "Make room on its disk, or make the disk writable, and try again; nothing has to be started anew."
_OF_THE_DISK = ("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN")


def hint(error: Exception) -> str:
    """Return the second line of a message about a disk error; empty for other errors."""
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
    """The server is not in the state that this call requires."""

    code = "lifecycle"


class NotConfiguredError(LifecycleError):
    """No usable base directory."""

    code = "not-configured"


class NotStartedError(LifecycleError):
    """The UI server is not running yet."""

    code = "not-started"

    def __init__(self, message: str = "Server not started", **details: object) -> None:
        super().__init__(message, **details)


class AlreadyRunningError(LifecycleError):
    """This directory is being served already."""

    code = "already-running"

    def __init__(self, message: str = "Server already running", **details: object) -> None:
        super().__init__(message, **details)


class NotFoundError(UiMcpError):
    """A named session, app, resource or tool does not exist."""

    code = "not-found"


class InvalidArgumentsError(UiMcpError):
    """Arguments do not fit the tool's schema."""

    code = "invalid-arguments"


class TooDeepError(InvalidArgumentsError):
    """Arguments are nested too deeply to be compared or encoded."""


class RefusedError(UiMcpError):
    """A path, name or request is refused for safety."""

    code = "refused"


class InstallError(UiMcpError):
    """A bundled file could not be written."""

    code = "install"


class DiskError(UiMcpError):
    """A file could not be written; the message says which, why, and what helps."""

    code = "disk"

    def __init__(self, doing: str, error: OSError, **details: object) -> None:
        super().__init__(f"{doing}: {error.strerror or error}\n{DISK_HINT}", **details)


class LuaError(UiMcpError):
    """Code in an app failed; `details["traceback"]` says where."""

    code = "lua-error"


class LuaSyntaxError(LuaError):
    """Code does not compile."""

    code = "lua-syntax"


class LuaTimeoutError(LuaError):
    """Code ran longer than its time budget."""

    code = "timeout"


class LuaMemoryError(LuaError):
    """Code needed more memory than its session may use."""

    code = "memory"


class SessionGoneError(UiMcpError):
    """The session ended while work was waiting for it."""

    code = "session-gone"


class StateStoreError(UiMcpError):
    """The state of a session cannot be saved or read."""

    code = "state_store"


class SessionElsewhereError(StateStoreError):
    """Another server of the group has the session."""

    code = "session-elsewhere"


class ViewdefError(UiMcpError):
    """A template cannot be compiled."""

    code = "viewdef"


class WireError(UiMcpError):
    """A frame or message cannot be decoded."""

    code = "invalid"


class ChatError(UiMcpError):
    """Posting to or reading from a conversation failed; `code` says why, e.g. `content_too_large`."""

    def __init__(self, message: str, code: str, **details: object) -> None:
        super().__init__(message, **details)
        self.code = code


class InboxError(UiMcpError):
    """The questions to the person cannot be stored or read."""

    code = "inbox"


class GatewayError(UiMcpError):
    """A mounted server or API failed or refused."""

    code = "compositor"


class MountError(GatewayError):
    """A server or API could not be mounted."""

    code = "mount"


class DeniedError(GatewayError):
    """Policy or a person denied the call."""

    code = "denied"


class UpstreamError(GatewayError):
    """The mounted server or API answered with an error, or not at all."""

    code = "upstream"


class AgentError(UiMcpError):
    """The agent loop or its model failed."""

    code = "agent"


class IntrospectError(UiMcpError):
    """Inspecting or operating a UI failed; `code` is one of the contract's MCP_UI_* codes."""

    code = "MCP_UI_INTERNAL"


class UiNotEnabledError(IntrospectError):
    """This UI may not be inspected; `details["reason"]` says why."""

    code = "MCP_UI_NOT_ENABLED"


class UiNoStagesError(IntrospectError):
    """The program shows no window."""

    code = "MCP_UI_NO_STAGES"


class UiNodeNotFoundError(IntrospectError):
    """A reference that no snapshot has returned."""

    code = "MCP_UI_NODE_NOT_FOUND"


class UiStaleRefError(IntrospectError):
    """A reference to a node that no longer exists."""

    code = "MCP_UI_STALE_REF"


class UiActionFailedError(IntrospectError):
    """An action was refused or failed; `details["reason"]` says why."""

    code = "MCP_UI_ACTION_FAILED"


class UiTimeoutError(IntrospectError):
    """The UI did not answer in time."""

    code = "MCP_UI_TIMEOUT"


class UiArgumentError(IntrospectError):
    """A selector, index, cursor or name is invalid."""

    code = "MCP_UI_INVALID_ARGUMENT"


class ApprovalError(GatewayError):
    """The answer to an approval cannot be accepted; `code` says why."""

    code = "approval"


class AlreadyDecidedError(ApprovalError):
    """The approval was already answered by another client."""

    code = "already_decided"


class DigestMismatchError(ApprovalError):
    """The answer is for a different call than the one that is waiting."""

    code = "digest_mismatch"


class ExpiredError(ApprovalError):
    """The approval has expired."""

    code = "expired"


class UnknownApprovalError(ApprovalError):
    """The approval does not exist."""

    code = "unknown_approval"


class LeaseLostError(AgentError):
    """Another orchestrator has taken over."""

    code = "lease-lost"


class JournalError(AgentError):
    """The journal is unavailable: its disk is full or read-only, or its database cannot be reached."""

    code = "journal"


class ModelError(AgentError):
    """The model could not answer; the message may be shown to people, `details["status"]` is the HTTP status if any."""

    code = "model"


class ContextOverflowError(ModelError):
    """The request is longer than the model's context; `limit` is that context in tokens, 0 if it is not known."""

    code = "context-overflow"

    def __init__(self, message: str, limit: int = 0, **details: object) -> None:
        super().__init__(message, **details)
        self.limit = limit


class UnknownToolError(UiMcpError):
    """No tool has this name."""

    code = "unknown-tool"

    def __init__(self, name: str) -> None:
        super().__init__(f"Unknown tool: {name}", name=name)


class ResourceNotFoundError(NotFoundError):
    """The resource does not exist, or is not served."""

    code = "resource-not-found"

    def __init__(self, uri: str, message: str | None = None) -> None:
        super().__init__(message or f"Resource not found: {uri}", uri=uri)
        self.uri = uri


class DisplayError(UiMcpError):
    """The app could not be shown."""

    code = "display"
