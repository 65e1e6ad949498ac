"""Tells what a person does in the pages of an attached browser, also in those that they open later."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from ui_mcp.errors import IntrospectError
from ui_mcp.introspection.backend import Noticed
from ui_mcp.introspection.backends.chromium.devtools import DevToolsError, Session
from ui_mcp.introspection.backends.chromium.frames import CONTEXT
from ui_mcp.introspection.backends.chromium.launch import script
from ui_mcp.introspection.backends.chromium.page import DialogOpenError, DrivenPage
from ui_mcp.introspection.backends.chromium.tab import Command, TabSetup
from ui_mcp.introspection.person_pages import is_person_page
from ui_mcp.jsontypes import JsonObject, dumps, loads

_BINDING = "uiMcpRecorded"


class PersonWatch:
    """The recorder scripts in the pages of one browser."""

    def __init__(self, pages: Callable[[], Sequence[DrivenPage]]) -> None:
        self._pages = pages
        self._noticed: Noticed | None = None
        self._commands: Sequence[Command] = ()
        self._scripts: dict[Session, str] = {}

    def setup(self, usual: TabSetup) -> TabSetup:
        """Return what a new page gets while a recording runs."""
        return replace(usual, everywhere=[*usual.everywhere, *self._commands]) if self._commands else usual

    async def start(self, noticed: Noticed, redact: Sequence[str]) -> None:
        self._noticed = noticed
        note = f"(event) => globalThis.{_BINDING}(event)"
        source = f"{script()};uiMcpIntrospect.recordInto({note}, {dumps(list(redact))})"
        # In our own context only, so that no script of the page can report what no person did.
        self._commands = [
            ("Runtime.addBinding", {"name": _BINDING, "executionContextName": CONTEXT}),
            (_ADD_SCRIPT, {"source": source, "worldName": CONTEXT, "runImmediately": True}),
        ]
        for session in self._sessions():
            for method, params in self._commands:
                with suppress(DevToolsError):
                    answer = await session.send(method, params)
                    if method == _ADD_SCRIPT:
                        self._scripts[session] = answer["identifier"]

    async def stop(self) -> None:
        self._noticed, self._commands = None, ()
        for session in self._sessions():
            with suppress(DevToolsError):
                if (identifier := self._scripts.get(session)) is not None:
                    await session.send("Page.removeScriptToEvaluateOnNewDocument", {"identifier": identifier})
                await session.send("Runtime.removeBinding", {"name": _BINDING})
        self._scripts.clear()
        for driven in self._pages():
            with suppress(DialogOpenError, IntrospectError):
                await driven.call({"op": "unwatch"})

    def called(self, driven: DrivenPage, event: JsonObject) -> None:
        """Take a `Runtime.bindingCalled` event, if it is ours."""
        if event["name"] == _BINDING and self._noticed is not None and not any(map(is_person_page, driven.urls)):
            self._noticed(loads(event["payload"]))

    def _sessions(self) -> list[Session]:
        return list({frame.session for driven in self._pages() for frame in driven.tab.frames})


_ADD_SCRIPT = "Page.addScriptToEvaluateOnNewDocument"
