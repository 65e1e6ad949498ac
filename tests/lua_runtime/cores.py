"""A core in this process with one page, for tests that go through thousands of entries."""

import json
from pathlib import Path
from typing import Any

from lua_runtime.page import Page
from ui_mcp.lua_runtime.interface import EMPTY_CONTEXT, EntryContext
from ui_mcp.lua_runtime.vm import LuaRuntime, LuaVm
from ui_mcp.ui.viewdef_store import ViewdefStore

WATCH = '{"type":"watch","data":{"varId":1,"expand":true}}'
PATIENCE = 60.0
"""Seconds for code that ends by itself: it is stopped by the clock on the wall, and the machine may be busy."""


class Bench:
    """A started worker, its viewdefs and its pages."""

    def __init__(self, folder: Path, **changes: object) -> None:
        launch: dict[str, object] = {"base_dir": str(folder), "project": str(folder), "log": str(folder / "log")}
        launch |= {"session_id": "secret", "bundle_lua": "", "status": "{}", "permissions": {}, "verbosity": 0}
        self.folder = folder
        self.out: list[tuple[str, str, float]] = []
        launch |= {"max_seconds": PATIENCE, "max_memory_mb": 64} | changes
        self._runtime, self._megabytes = LuaRuntime(), int(str(launch["max_memory_mb"]))
        self.core = LuaVm(launch, self._emit, lambda _: None, self._runtime)
        self.store = ViewdefStore()
        self.pages: dict[int, Page] = {}
        self.facts = EMPTY_CONTEXT
        self.must("start")
        self.must("viewdefs", self.store.bundle())

    def viewdefs(self, **templates: str) -> None:
        """Register `Type__namespace="…"` templates and hand them over."""
        keys = []
        for name, html in templates.items():
            type_name, namespace = name.split("__")
            keys.append(self.store.put(type_name, namespace, f"<template>{html}</template>"))
        self.must("viewdefs", self.store.bundle(keys))

    def open(self, number: int = 1, *, expand: bool = True) -> Page:
        """Connect a page and let it watch."""
        page = self.pages[number] = Page(self.store)
        self.must("open", number)
        self.must("frame", number, WATCH if expand else WATCH.replace(',"expand":true', ""))
        return page

    def enter(self, op: str, *args: str | int, facts: EntryContext | None = None) -> tuple[str, str, Any]:
        """Code, message and result; frames go to the pages."""
        code, message, _trace, result, *frames = self.core.call(op, args, facts or self.facts)
        for conn, frame in zip(frames[::2], frames[1::2], strict=True):
            self.pages[int(str(conn))].apply(str(frame))
        return str(code), str(message), json.loads(str(result))

    def must(self, op: str, *args: str | int) -> Any:
        """The result; an assertion when it failed."""
        code, message, result = self.enter(op, *args)
        assert not code, message
        return result

    def allow(self, seconds: float) -> None:
        """Let code run this long from now on."""
        self._runtime.set_limits(self._megabytes * 1024 * 1024, seconds, lambda _: None)

    def run(self, code: str) -> Any:
        """Run Lua that must succeed."""
        return self.must("run", code)

    def send(self, *messages: object, conn: int = 1, user: bool = True) -> None:
        """Send messages from a page."""
        self.must("frame", conn, json.dumps({"userEvent": user, "messages": messages}))

    def _emit(self, kind: str, text: str, number: float) -> None:
        self.out.append((kind, text, number))
