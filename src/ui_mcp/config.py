"""Every setting with its default, TOML key and environment variable.

Precedence: command-line flag, environment variable, configuration file, default.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache, reduce
from operator import getitem
from pathlib import Path
from typing import Annotated, Literal

from ui_mcp.errors import ConfigError
from ui_mcp.fields import Before, Limit, Section, fields_of, record_in, suggestion
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.log import logger
from ui_mcp.phone_settings import PhoneSettings
from ui_mcp.trust import Agreements, widening, without
from ui_mcp.validation import InvalidDataError, read, read_toml

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
LOCAL = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - only compared, not bound
"""Wildcard bind addresses → loopback address by which local programs reach the listener."""

_log = logger("config")
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


def seconds(value: Json) -> Json:
    """Parse `90`, `90s`, `15m`, `24h` or `7d` to seconds; values that are not strings are returned as they are."""
    if not isinstance(value, str):
        return value
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhd]?)", value.strip())
    if found is None:
        raise ValueError("should be a time such as 90s, 15m, 24h or 7d")
    return float(found[1]) * _UNITS[found[2]]


Seconds = Annotated[float, Before(seconds), Limit(ge=0)]


@dataclass(frozen=True, slots=True)
class ServerSettings(Section):
    """`[server]`: where and for whom we listen."""

    host: Annotated[str, "Address that all listeners bind to."] = "127.0.0.1"
    port: Annotated[int | None, "Port of the apps under `ui-mcp serve`; 8000 if not set.", Limit(ge=0, le=65535)] = None
    mcp_port: Annotated[int | None, "MCP port of `ui-mcp serve`; 8001 if not set.", Limit(ge=0, le=65535)] = None
    person_port: Annotated[int | None, "Port of your own page; 8002 or a free one if unset.", Limit(ge=0, le=65535)] = (
        None
    )
    allowed_hosts: Annotated[tuple[str, ...], "Host headers accepted besides loopback names; links use the first."] = ()
    allowed_origins: Annotated[tuple[str, ...], "Origins accepted in addition to the server's own."] = ()
    allowed_users: Annotated[
        tuple[int | str, ...],
        "Linux: accounts (names or uids) that may connect from this machine, in addition to the server's own and root; "
        'for example that of a reverse proxy. `"*"` means all.',
    ] = ()
    require_token: Annotated[bool, "Require the token in `mcp-token` for every request to the MCP port."] = False
    linger: Annotated[Seconds, "Seconds that `ui-mcp mcp` keeps serving after its last client and page left."] = 5.0

    def url(self, port: int) -> str:
        """Return the URL of a port for links: with `host` if it is loopback or allowed, else the first allowed name."""
        names = [_without_port(name) for name in self.allowed_hosts]
        known = self.host in {*LOOPBACK, *names}
        return _url(self.host if known else next(iter(names), self.host), port)

    def local_url(self, port: int) -> str:
        """Return the URL of a port for programs on this machine, which may not resolve the public host name."""
        return _url(LOCAL[self.host], port) if self.host in LOCAL else self.url(port)


@dataclass(frozen=True, slots=True)
class SessionSettings(Section):
    """`[session]`: life of sessions."""

    timeout: Annotated[Seconds, "Idle seconds after which a session ends; 0 means never."] = 86400.0
    root: Annotated[Literal["shared", "new"], "Whether `/` opens session 1 (`shared`) or a new one."] = "shared"
    journal: Annotated[
        Literal["off", "normal", "full"], "Whether to save the state of apps; `full` survives power cuts too."
    ] = "normal"
    journal_ms: Annotated[int, "With `full`, milliseconds between two flushes to disk.", Limit(ge=0, le=10_000)] = 50
    group_key_file: Annotated[
        str, "Key file of a group of servers that share a PostgreSQL database and take over each other's sessions."
    ] = ""
    lease_seconds: Annotated[
        float, "Seconds after which a silent server of the group loses its sessions.", Limit(ge=1, le=3600)
    ] = 15.0
    history_mb: Annotated[float, "Megabytes of history kept for each session, for undo.", Limit(ge=0)] = 12


@dataclass(frozen=True, slots=True)
class LuaPermissions(Section):
    """`[lua.permissions]`: what app code may touch."""

    read: Annotated[tuple[str, ...], "Directories that Lua may read."] = ("{project}",)
    write: Annotated[tuple[str, ...], "Directories that Lua may write to."] = ("{base_dir}/storage",)
    deny_read: Annotated[
        tuple[str, ...],
        "Never readable, whatever `read` says. The server's own secrets, stores and settings never are.",
    ] = ()
    deny_write: Annotated[
        tuple[str, ...],
        "Never writable, whatever `write` says. The server's own files never are; files that hosts, shells and editors "
        "run by themselves (`.git`, `.mcp.json`, `CLAUDE.md`, `Makefile` …) are only where `write` names them.",
    ] = ()
    exec: Annotated[bool, "Whether Lua may start processes."] = False
    exec_timeout: Annotated[Seconds, "Seconds that a started process may take."] = 10.0
    env: Annotated[tuple[str, ...], "Variables that `os.getenv` may read."] = ("HOME", "LANG", "TZ", "USER")


@dataclass(frozen=True, slots=True)
class LuaSettings(Section):
    """`[lua]`: the engine."""

    hotload: Annotated[bool, "Reload an app's files when they change."] = True
    host: Annotated[
        Literal["process", "thread"], "Whether a session's Lua runs in a process of its own or in a thread."
    ] = "process"
    max_seconds: Annotated[Seconds, "Seconds that one call into Lua may take.", Limit(gt=0)] = 5.0
    max_memory_mb: Annotated[int, "Megabytes of memory that a session's Lua may use.", Limit(ge=8)] = 256
    permissions: LuaPermissions = LuaPermissions()


@dataclass(frozen=True, slots=True)
class McpSettings(Section):
    """`[mcp]`: what MCP clients get."""

    max_result_chars: Annotated[int, "Tool results with more characters go to a file.", Limit(ge=1000)] = 60_000
    claude_channel: Annotated[bool, "Push events to Claude Code's channel."] = False


@dataclass(frozen=True, slots=True)
class ToolSettings(Section):
    """`[tools]`: which tools are listed; every tool can be called anyway."""

    list: Annotated[
        Literal["auto", "all", "core"],
        "`all`; `core`, to which `ui_tools` adds; or `auto`: `core` for clients that notice changes of the list.",
    ] = "auto"


@dataclass(frozen=True, slots=True)
class LoggingSettings(Section):
    """`[logging]`: how much is said."""

    verbosity: Annotated[
        int, "0: warnings; 1: start-up, connections, calls; 2: messages; 3: operations; 4: values.", Limit(ge=0, le=4)
    ] = 0


@dataclass(frozen=True, slots=True)
class SnapshotDefaults(Section):
    """`[introspection.snapshot_defaults]`: what a full snapshot holds unless the caller says otherwise."""

    depth: Annotated[int, "Levels below the root to include.", Limit(ge=0)] = 50
    bounds: Annotated[bool, "Include `boundsInParent` and `boundsInScene`."] = True
    local_to_screen: Annotated[bool, "Include the position on the screen."] = True
    properties: Annotated[bool, "Include tooltips and user data."] = False
    virtualization: Annotated[bool, "Include the rows of lists, tables and trees."] = True
    accessibility: Annotated[bool, "Include roles and help texts."] = False


@dataclass(frozen=True, slots=True)
class IntrospectionSettings(Section):
    """`[introspection]`: looking at UIs and operating them."""

    allow_actions: Annotated[bool, "Whether `ui_perform` may act; if false, agents can only look."] = True
    allow_screenshots: Annotated[bool, "Whether `ui_screenshot` may take pictures."] = True
    allow_attach: Annotated[bool, "Whether agents may attach to programs and pages with `ui_attach`."] = False
    allow_cookies: Annotated[bool, "Whether `ui_browser` may read and set the cookies and storage of pages."] = False
    allow_evaluate: Annotated[bool, "Whether `ui_browser` may run scripts in pages."] = False
    redact: Annotated[tuple[str, ...], "CSS selectors of nodes whose texts and values are masked."] = ()
    timeout_ms: Annotated[int, "Milliseconds that a UI may take to answer a snapshot.", Limit(ge=100)] = 5000
    chromium: Annotated[str | None, "Browser to start when no page is open; if not set, one is found."] = None
    snapshot_defaults: SnapshotDefaults = SnapshotDefaults()


@dataclass(frozen=True, slots=True)
class GatewaySettings(Section):
    """`[gateway]`: where mounted servers and APIs are configured."""

    config: Annotated[
        str | None, "Path, relative to the project, of an `nlui.yaml` whose APIs and servers this server offers too."
    ] = None


@dataclass(frozen=True, slots=True)
class ChatSettings(Section):
    """`[chat]`: the conversation between people and agents."""

    window: Annotated[int, "Most messages that the inbox resource shows.", Limit(ge=1, le=1000)] = 1000
    max_content: Annotated[int, "Most bytes in one message.", Limit(ge=1)] = 262_144
    mimes: Annotated[tuple[str, ...], "Media types that may be posted."] = ("text/markdown", "text/plain")
    tool_names: Annotated[Literal["snake", "dotted"], "Spelling of the chat tools' names."] = "snake"
    legacy_ui_tools: Annotated[
        Literal["compat", "list", "off"],
        "Whether the old `ui.send_message` works (`compat`), is listed too (`list`) or is gone (`off`).",
    ] = "compat"
    server_marks: Annotated[bool, "Offer `chat_read_and_advance`: the server remembers how far you have read."] = False
    rate: Annotated[float, "Posts per second and person over HTTP; bursts may be twice as many.", Limit(gt=0)] = 20.0


@dataclass(frozen=True, slots=True)
class AgentLoopSettings(Section):
    """`[loop]`: turns of `ui-mcp agent`."""

    text_policy: Annotated[
        Literal["tool_only", "implicit_post"],
        "Text outside a tool call: remind the model to post it (`tool_only`), or post it (`implicit_post`).",
    ] = "tool_only"
    max_samplings: Annotated[int, "Most answers of the model in one turn.", Limit(ge=1, le=500)] = 50
    max_denials: Annotated[int, "Denied calls in a row that end a turn.", Limit(ge=1, le=100)] = 3


@dataclass(frozen=True, slots=True)
class OrchestratorSettings(Section):
    """`[orchestrator]`: how `ui-mcp agent` takes messages."""

    max_batch: Annotated[int, "Most new messages that the model gets at once.", Limit(ge=1, le=1000)] = 50


@dataclass(frozen=True, slots=True)
class StorageSettings(Section):
    """`[storage]`: where chats last."""

    url: Annotated[str | None, "`sqlite:///PATH` or `postgresql://…`; if not set, `.ui-mcp/runtime.db`."] = None
    poll_ms: Annotated[
        int, "Milliseconds between looks at SQLite where processes cannot announce changes.", Limit(ge=5, le=1000)
    ] = 25


@dataclass(frozen=True, slots=True)
class PublisherSettings(Section):
    """`[publisher]`: what bookmarklets and programs send to apps that called `mcp:subscribe`."""

    enabled: Annotated[bool, "Whether to listen as soon as an app has subscribed to a topic."] = True
    port: Annotated[int, "Port on 127.0.0.1, shared by all servers on this machine.", Limit(ge=0, le=65535)] = 25283


@dataclass(frozen=True, slots=True)
class UpdateSettings(Section):
    """`[update]`: whether to look for newer releases."""

    index: Annotated[str, "URL of the package index that `ui_update` asks; empty means never."] = ""


@dataclass(frozen=True, slots=True)
class Config(Section):
    """All settings of one base directory."""

    server: ServerSettings = ServerSettings()
    session: SessionSettings = SessionSettings()
    lua: LuaSettings = LuaSettings()
    mcp: McpSettings = McpSettings()
    tools: ToolSettings = ToolSettings()
    logging: LoggingSettings = LoggingSettings()
    introspection: IntrospectionSettings = IntrospectionSettings()
    gateway: GatewaySettings = GatewaySettings()
    chat: ChatSettings = ChatSettings()
    loop: AgentLoopSettings = AgentLoopSettings()
    orchestrator: OrchestratorSettings = OrchestratorSettings()
    storage: StorageSettings = StorageSettings()
    publisher: PublisherSettings = PublisherSettings()
    phone: PhoneSettings = PhoneSettings()
    update: UpdateSettings = UpdateSettings()


ENVIRONMENT: Mapping[str, str] = {
    "UI_HOST": "server.host",
    "UI_PORT": "server.port",
    "UI_MCP_PORT": "server.mcp_port",
    "UI_PERSON_PORT": "server.person_port",
    "UI_LINGER": "server.linger",
    "UI_HOTLOAD": "lua.hotload",
    "UI_SESSION_TIMEOUT": "session.timeout",
    "UI_VERBOSITY": "logging.verbosity",
}
"""Environment variable → TOML key. `UI_DIR` chooses the base directory and is read by the command line."""


def _url(host: str, port: int) -> str:
    # URLs need brackets around IPv6 addresses.
    bare = ":" in host and not host.startswith("[")
    return f"http://{f'[{host}]' if bare else host}:{port}"


def _without_port(name: str) -> str:
    # The last colon of a bare IPv6 address does not begin a port.
    host, _, port = name.rpartition(":")
    return host if port.isdigit() and (":" not in host or host.endswith("]")) else name


def load(file: Path, *, flags: JsonObject | None = None, environment: Mapping[str, str] | None = None) -> Config:
    """Read the settings of a base directory; `flags` maps TOML keys to values given on the command line.

    Settings of the file that widen rights keep their defaults until the person agrees to them; see `pending`.

    Raises:
        ConfigError: a value is invalid; the message names the file or variable, the line or key, and the problem.
    """
    env = os.environ if environment is None else environment
    tree = read_toml(file)
    config = _checked(tree, str(file))  # also what is not in effect: errors in it are reported now
    if waiting := _pending(tree, file):
        _warn_once(file, tuple(waiting))
        config = _checked(without(tree, waiting), str(file))
    for name, key in ENVIRONMENT.items():
        if env.get(name):  # empty counts as unset
            config = _checked(_with(config, {key: env[name]}), name)
    given = {key: value for key, value in (flags or {}).items() if value is not None}
    config = _checked(_with(config, given), "command line")
    _require_token_beyond_loopback(config)
    config.phone.require_https(LOOPBACK)
    return config


def check(tree: JsonObject, source: str) -> None:
    """Check the contents of a configuration file as a start would, with everything in it in effect.

    Raises:
        ConfigError: a value is invalid.
    """
    config = _checked(tree, source)
    _require_token_beyond_loopback(config)
    config.phone.require_https(LOOPBACK)


def rights(file: Path) -> JsonObject:
    """Return the settings of the file that widen rights, by dotted key."""
    return widening(read_toml(file), asdict(Config()))


def pending(file: Path) -> JsonObject:
    """Return the settings that widen rights and are not in effect because the person has not agreed to them."""
    return _pending(read_toml(file), file)


def trusted_place(file: Path) -> Path:
    """Return the base directory under which an agreement about its configuration file is stored."""
    # Links at the file or its directory are not resolved: they would reuse the agreement of another project.
    return file.parent.parent.resolve()


@cache
def _warn_once(file: Path, keys: tuple[str, ...]) -> None:
    _log.warning("%s: not in effect until `ui-mcp trust` is run: %s", file, ", ".join(keys))


def _pending(tree: JsonObject, file: Path) -> JsonObject:
    wide = widening(tree, asdict(Config())) if tree else {}
    return {} if not wide or Agreements().hold(trusted_place(file), wide) else wide


def unknown_keys(file: Path) -> list[str]:
    """Return the dotted keys of the file that are no settings, each with what was probably meant."""
    return [key + suggestion(Config, key) for key in _unknown(read_toml(file), Config, "")]


def _with(config: Config, values: JsonObject) -> JsonObject:
    tree = asdict(config)
    for key, value in values.items():
        *path, last = key.split(".")
        reduce(getitem, path, tree)[last] = value
    return tree


def _checked(tree: JsonObject, source: str) -> Config:
    try:
        return read(Config, tree)
    except InvalidDataError as error:
        problem = error.problems[0]
        key = ".".join(map(str, problem.path))
        raise ConfigError(f"{source}: {problem} (got {problem.given!r})", key=key) from error


def _require_token_beyond_loopback(config: Config) -> None:
    server = config.server
    if server.host in LOOPBACK or (server.require_token and server.allowed_hosts):
        return
    raise ConfigError(
        f"server.host {server.host!r} is reachable from other machines\n"
        "Set server.require_token = true and list the names clients use in server.allowed_hosts, or use 127.0.0.1."
    )


def _unknown(tree: JsonObject, section: type, prefix: str) -> list[str]:
    found: list[str] = []
    for key, value in tree.items():
        field = fields_of(section).get(key)
        inner = record_in(field.annotation) if field else None
        if field is None:
            found.append(prefix + key)
        elif isinstance(value, dict) and inner is not None:
            found += _unknown(value, inner, f"{prefix}{key}.")
    return found
