"""Which tools are listed: a core, and groups that a client adds; every tool can be called whether listed or not."""

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from ui_mcp import config as settings
from ui_mcp.errors import ConfigError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.toolkit.tool import Call, Tool

ToolList = Literal["auto", "all", "core"]

CORE = frozenset(
    {
        "ui_status", "ui_start", "ui_edit", "ui_read", "ui_display", "ui_open_browser", "ui_run", "ui_wait",
        "ui_get_snapshot", "ui_perform", "ui_screenshot", "ui_test", "chat_assistant_post", "ui_tools", "ui_sync",
    }
)  # fmt: skip

FOLLOWS_CHANGES = ("visual studio code", "opencode", "gemini-cli")
"""Beginnings of the names of clients that read the list again when notified, and load all of it into the context."""

MAX_CLIENTS = 1000


@dataclass(frozen=True, slots=True)
class Group:
    """Tools that are wanted together."""

    about: str
    tools: frozenset[str]


GROUPS = {
    "look": Group(
        "find, describe and wait for single nodes",
        frozenset({"ui_query", "ui_get_node", "ui_element_at", "ui_wait_for"}),
    ),
    "browser": Group(
        "history, tabs, network, console, devices, WebMCP",
        frozenset({"ui_browser"}),
    ),
    "chat": Group(
        "ask the person, read what they write outside of the app",
        frozenset({"ui_ask", "chat_read_since", "chat_wait_since"}),
    ),
    "apps": Group(
        "audit, checkpoints, undo, themes, single templates",
        frozenset({"ui_audit", "ui_checkpoint", "ui_history", "ui_undo", "ui_theme", "ui_upload_viewdef"}),
    ),
    "programs": Group(
        "other pages, browsers, JavaFX and Swing programs", frozenset({"ui_targets", "ui_attach", "ui_detach"})
    ),
    "project": Group("install, update, another directory", frozenset({"ui_configure", "ui_install", "ui_update"})),
}


class ToolGroups:
    """The groups that each client has added, by its connection."""

    def __init__(self, announcements: Announcements) -> None:
        self._announcements = announcements
        self._added: OrderedDict[str, frozenset[str]] = OrderedDict()

    def add(self, name: str, call: Call) -> None:
        """List a group for the caller from now on, and say that the list has changed."""
        self._added[call.connection] = self.added(call) | {name}
        self._added.move_to_end(call.connection)
        while len(self._added) > MAX_CLIENTS:
            self._added.popitem(last=False)
        self._announcements.list_changed("tools")

    def added(self, call: Call) -> frozenset[str]:
        return self._added.get(call.connection, frozenset())

    def listed(self, tools: Sequence[Tool], call: Call, setting: ToolList) -> Sequence[Tool]:
        """Return the tools that a client is shown; those of no group always are."""
        if not gets_core(setting, call.client_name):
            return tools
        added = self.added(call)
        hidden = {tool for name, group in GROUPS.items() if name not in added for tool in group.tools}
        return [tool for tool in tools if tool.name not in hidden]


def gets_core(setting: ToolList, client: str) -> bool:
    """Return whether a client of this name is shown the core only; pure."""
    return setting == "core" or (setting == "auto" and client.casefold().startswith(FOLLOWS_CHANGES))


def setting_of(file: Path, flags: JsonObject) -> ToolList:
    """Return the setting `tools.list` of a configuration file; `auto` if it is invalid, which is reported elsewhere."""
    try:
        return settings.load(file, flags=flags).tools.list
    except ConfigError:
        return "auto"
