"""Every setting with its default, TOML key and environment variable.

Precedence: command-line flag, environment variable, configuration file, default.
"""

import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from ui_mcp.errors import ConfigError
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.log import logger
from ui_mcp.trust import Agreements, config_folder, widening, without

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


Seconds = Annotated[float, BeforeValidator(seconds), Field(ge=0)]


class Section(BaseModel):
    """A table of the configuration file; unknown keys are reported, not refused."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class ServerSettings(Section):
    """`[server]`: where and for whom we listen."""

    host: str = Field("127.0.0.1", description="Address all listeners bind.")
    port: int | None = Field(None, ge=0, le=65535, description="UI port of `serve` (8000).")
    mcp_port: int | None = Field(None, ge=0, le=65535, description="MCP port of `serve` (8001).")
    person_port: int | None = Field(
        None, ge=0, le=65535, description="Port of the person's own page (`serve`: 8002, or a free one)."
    )
    allowed_hosts: tuple[str, ...] = Field(
        (), description="Host headers accepted besides the loopback names; links carry the first one."
    )
    allowed_origins: tuple[str, ...] = Field((), description="Origins accepted besides our own.")
    allowed_users: tuple[int | str, ...] = Field(
        (),
        description="Linux: accounts (names or uids) besides ours and root that may connect from this machine, for "
        'example that of a reverse proxy; `"*"` = all.',
    )
    require_token: bool = Field(False, description="Ask every MCP-port request for the token in `mcp-token`.")

    def url(self, port: int) -> str:
        """Return the URL of a port for links: with `host` if it is loopback or allowed, else the first allowed name."""
        names = [_without_port(name) for name in self.allowed_hosts]
        known = self.host in {*LOOPBACK, *names}
        return _url(self.host if known else next(iter(names), self.host), port)

    def local_url(self, port: int) -> str:
        """Return the URL of a port for programs on this machine, which may not resolve the public host name."""
        return _url(LOCAL[self.host], port) if self.host in LOCAL else self.url(port)


class SessionSettings(Section):
    """`[session]`: life of sessions."""

    timeout: Seconds = Field(86400.0, description="Idle time after which a session ends; 0 = never.")
    root: Literal["shared", "new"] = Field("shared", description="`/` opens session 1, or makes a new one.")


class LuaPermissions(Section):
    """`[lua.permissions]`: what app code may touch."""

    read: tuple[str, ...] = Field(("{project}",), description="Directories Lua may read.")
    write: tuple[str, ...] = Field(("{base_dir}/storage",), description="Directories Lua may write.")
    deny_read: tuple[str, ...] = Field(
        (), description="Never read, whatever `read` says; our own secrets, stores and settings never are."
    )
    deny_write: tuple[str, ...] = Field(
        (),
        description="Never written, whatever `write` says; our own files never are, and what agents' hosts, shells "
        "and editors run by themselves (`.git`, `.mcp.json`, `CLAUDE.md`, `Makefile` …) only where `write` names it.",
    )
    exec: bool = Field(False, description="Whether Lua may start processes.")
    exec_timeout: Seconds = Field(10.0, description="Time a started process may take.")
    env: tuple[str, ...] = Field(("HOME", "LANG", "TZ", "USER"), description="Variables `os.getenv` may read.")


class LuaSettings(Section):
    """`[lua]`: the engine."""

    hotload: bool = Field(True, description="Reload changed files of apps.")
    host: Literal["process", "thread"] = Field("process", description="Where a session's Lua runs.")
    max_seconds: Seconds = Field(5.0, gt=0, description="Time budget of one entry into Lua.")
    max_memory_mb: int = Field(256, ge=8, description="Memory a session's Lua may use.")
    permissions: LuaPermissions = LuaPermissions()


class McpSettings(Section):
    """`[mcp]`: what MCP clients get."""

    max_result_chars: int = Field(60_000, ge=1000, description="Longer tool answers go to a file.")
    claude_channel: bool = Field(False, description="Push events to Claude Code's channel.")


class LoggingSettings(Section):
    """`[logging]`: how much is said."""

    verbosity: int = Field(0, ge=0, le=4, description="0 quiet … 4 values.")


class SnapshotDefaults(Section):
    """`[introspection.snapshot_defaults]`: what a full snapshot holds unless the caller says otherwise."""

    depth: int = Field(50, ge=0, description="Levels below the root.")
    bounds: bool = Field(True, description="boundsInParent and boundsInScene.")
    local_to_screen: bool = Field(True, description="Place on the screen.")
    properties: bool = Field(False, description="Tooltip and user data.")
    virtualization: bool = Field(True, description="Rows of lists, tables and trees.")
    accessibility: bool = Field(False, description="Role and help.")


class IntrospectionSettings(Section):
    """`[introspection]`: looking at UIs and operating them."""

    allow_actions: bool = Field(True, description="Whether `ui_perform` may act; false leaves looking only.")
    allow_screenshots: bool = Field(True, description="Whether `ui_screenshot` may take pictures.")
    allow_attach: bool = Field(False, description="Whether agents may attach programs and pages by `ui_attach`.")
    redact: tuple[str, ...] = Field((), description="Css selectors of nodes whose texts and values are masked.")
    timeout_ms: int = Field(5000, ge=100, description="Time a UI may take to answer a look.")
    chromium: str | None = Field(None, description="Browser to start when no page is open; else it is searched for.")
    snapshot_defaults: SnapshotDefaults = SnapshotDefaults()


class GatewaySettings(Section):
    """`[gateway]`: where mounted servers and APIs are configured."""

    config: str | None = Field(
        None, description="Path, from the project, of an nlui.yaml whose mounts this server offers too."
    )


class ChatSettings(Section):
    """`[chat]`: the conversation between people and agents."""

    window: int = Field(1000, ge=1, le=1000, description="Messages the inbox resource shows at most.")
    max_content: int = Field(262_144, ge=1, description="Bytes of one message.")
    mimes: tuple[str, ...] = Field(("text/markdown", "text/plain"), description="Kinds of text that may be posted.")
    tool_names: Literal["snake", "dotted"] = Field("snake", description="Spelling of the listed chat tools.")
    legacy_ui_tools: Literal["compat", "list", "off"] = Field("compat", description="What `ui.send_message` does.")
    rate: float = Field(20.0, gt=0, description="Posts per second and person through the HTTP bridge (burst: twice).")


class StorageSettings(Section):
    """`[storage]`: where chats last."""

    url: str | None = Field(None, description="sqlite:///PATH or postgresql://…; absent: .ui-mcp/runtime.db.")
    poll_ms: int = Field(
        25, ge=5, le=1000, description="How often those who wait look at SQLite where other processes cannot wake them."
    )


class AccountSettings(Section):
    """The account's own `config.toml`, in its configuration directory: what no project can set."""

    directories: tuple[str, ...] = Field((), description="Directories that `ui_configure` may switch to.")


class Config(Section):
    """All settings of one base directory."""

    server: ServerSettings = ServerSettings()
    session: SessionSettings = SessionSettings()
    lua: LuaSettings = LuaSettings()
    mcp: McpSettings = McpSettings()
    logging: LoggingSettings = LoggingSettings()
    introspection: IntrospectionSettings = IntrospectionSettings()
    gateway: GatewaySettings = GatewaySettings()
    chat: ChatSettings = ChatSettings()
    storage: StorageSettings = StorageSettings()


ENVIRONMENT: Mapping[str, str] = {
    "UI_HOST": "server.host",
    "UI_PORT": "server.port",
    "UI_MCP_PORT": "server.mcp_port",
    "UI_PERSON_PORT": "server.person_port",
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
    tree = _read(file)
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
    return config


def rights(file: Path) -> JsonObject:
    """Return the settings of the file that widen rights, by dotted key."""
    return widening(_read(file), Config().model_dump())


def pending(file: Path) -> JsonObject:
    """Return the settings that widen rights and are not in effect because the person has not agreed to them."""
    return _pending(_read(file), file)


def trusted_place(file: Path) -> Path:
    """Return the base directory under which an agreement about its configuration file is stored."""
    # Links at the file or its directory are not resolved: they would reuse the agreement of another project.
    return file.parent.parent.resolve()


def account() -> AccountSettings:
    """Read the account's own settings.

    Raises:
        ConfigError: the file cannot be read or is invalid.
    """
    file = config_folder() / "config.toml"
    try:
        return AccountSettings.model_validate(_read(file))
    except ValidationError as error:
        problem = error.errors()[0]
        raise ConfigError(f"{file}: {'.'.join(map(str, problem['loc']))}: {wording(problem)}") from error


@cache
def _warn_once(file: Path, keys: tuple[str, ...]) -> None:
    _log.warning("%s: not in effect until `ui-mcp trust` is run: %s", file, ", ".join(keys))


def _pending(tree: JsonObject, file: Path) -> JsonObject:
    wide = widening(tree, Config().model_dump()) if tree else {}
    return {} if not wide or Agreements().hold(trusted_place(file), wide) else wide


def unknown_keys(file: Path) -> list[str]:
    """Return the dotted keys of the file that are no settings."""
    return list(_unknown(_read(file), Config, ""))


def _read(file: Path) -> JsonObject:
    try:
        text = file.read_text(encoding="utf-8")
        import tomllib  # lazy: most directories have no configuration file

        return tomllib.loads(text)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror or error}", file=str(file)) from error
    except ValueError as error:  # not UTF-8, or not TOML
        raise ConfigError(f"{file}: {error}", file=str(file)) from error


def _with(config: Config, values: JsonObject) -> JsonObject:
    tree = config.model_dump()
    for key, value in values.items():
        *path, last = key.split(".")
        node = tree
        for part in path:
            node = node[part]
        node[last] = value
    return tree


def _checked(tree: JsonObject, source: str) -> Config:
    try:
        return Config.model_validate(tree)
    except ValidationError as error:
        problem = error.errors()[0]
        key = ".".join(str(part) for part in problem["loc"])
        raise ConfigError(f"{source}: {key}: {wording(problem)} (got {problem['input']!r})", key=key) from error


def wording(problem: ErrorDetails) -> str:
    """Return pydantic's message about a value in the terms of a configuration file."""
    text = problem["msg"].removeprefix("Value error, ").replace("Input should", "should")
    return text.replace("valid tuple", "list").replace("valid dictionary", "mapping").partition(", unable")[0]


def _require_token_beyond_loopback(config: Config) -> None:
    server = config.server
    if server.host in LOOPBACK or (server.require_token and server.allowed_hosts):
        return
    raise ConfigError(
        f"server.host {server.host!r} is reachable from other machines\n"
        "Set server.require_token = true and list the names clients use in server.allowed_hosts, or use 127.0.0.1."
    )


def _unknown(tree: JsonObject, model: type[BaseModel], prefix: str) -> list[str]:
    found: list[str] = []
    for key, value in tree.items():
        field = model.model_fields.get(key)
        inner = field.annotation if field else None
        if field is None:
            found.append(prefix + key)
        elif isinstance(value, dict) and isinstance(inner, type) and issubclass(inner, BaseModel):
            found += _unknown(value, inner, f"{prefix}{key}.")
    return found
