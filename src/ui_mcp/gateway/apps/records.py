"""What is kept of apps in a conversation: the results that they show, and what they tell the model."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import anyio

from ui_mcp.agent.handlers import Inject
from ui_mcp.agent.journal_writer import JournalWriter
from ui_mcp.agent.model import marked, new_mark
from ui_mcp.files import PRIVATE, write_atomic
from ui_mcp.jsontypes import JsonObject, digest, dumps
from ui_mcp.log import logger
from ui_mcp.mcp_server.results import call_result
from ui_mcp.toolkit.tool import Call, Tool, ToolResult
from ui_mcp.toolkit.toolset import Toolset
from ui_mcp.validation import InvalidDataError, read_json

_log = logger("gateway.apps")
_MOST = 200
"""Results that are kept; the oldest are deleted."""
_MAX_CONTEXT = 20_000
_HEAD = "[Reported by the app of {server}, not written by the person]"


class AppResults:
    """Whole results of tools with an app, in files; the timeline has only what the model saw."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def save(self, conversation: str, call_id: str, record: JsonObject) -> None:
        try:
            await anyio.to_thread.run_sync(self._save, self._file(conversation, call_id), record)
        except OSError as error:  # the app then shows what the timeline has
            _log.warning("cannot keep the result for an app: %s", error)

    async def load(self, conversation: str, call_id: str) -> JsonObject | None:
        file = self._file(conversation, call_id)
        try:
            return read_json(JsonObject, await anyio.to_thread.run_sync(file.read_bytes))
        except (OSError, InvalidDataError):
            return None

    def _file(self, conversation: str, call_id: str) -> Path:
        return self._folder / f"{digest([conversation, call_id])[:32]}.json"

    def _save(self, file: Path, record: JsonObject) -> None:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomic(file, json.dumps(record).encode(), mode=PRIVATE)
        kept = sorted(self._folder.glob("*.json"), key=lambda one: one.stat().st_mtime)
        for old in kept[:-_MOST]:
            old.unlink(missing_ok=True)


class RecordedApps:
    """A toolset that keeps the results of tools with an app."""

    def __init__(self, tools: Toolset, has_app: Callable[[str], bool], results: AppResults) -> None:
        self._tools = tools
        self._has_app = has_app
        self._results = results

    async def tools(self, call: Call) -> Sequence[Tool]:
        return await self._tools.tools(call)

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        result = await self._tools.call(name, arguments, call)
        name, arguments = _called(name, arguments)
        if self._has_app(name) and call.agent and result.needs is None:
            record: JsonObject = {"tool": name, "arguments": arguments, "result": await call_result(result)}
            await self._results.save(call.agent, call.call_id, record)
        return result


def _called(name: str, arguments: JsonObject) -> tuple[str, JsonObject]:
    """Return the tool and arguments of a call that may have been made by `nlui__call`."""
    inner, given = arguments.get("name"), arguments.get("arguments")
    if name != "nlui__call" or not isinstance(inner, str):
        return name, arguments
    return inner, given if isinstance(given, dict) else {}


class AppContexts:
    """What apps reported the model, by conversation and server; each text replaces the one before."""

    def __init__(self) -> None:
        self._reported: dict[str, dict[str, str]] = {}

    def report(self, conversation: str, server: str, content: JsonObject) -> None:
        self._reported.setdefault(conversation, {})[server] = dumps(content)[:_MAX_CONTEXT]

    def take(self, conversation: str) -> dict[str, str]:
        """Return what was reported since the last time."""
        return self._reported.pop(conversation, {})

    def handler(self, conversation: str) -> "ContextHandler":
        return ContextHandler(self, conversation)


class ContextHandler:
    """Gives the model what apps reported, before it answers."""

    def __init__(self, contexts: AppContexts, conversation: str) -> None:
        self._contexts = contexts
        self._conversation = conversation

    async def before(self, writer: JournalWriter) -> Inject | None:
        reported = self._contexts.take(self._conversation)
        texts = [f"{_HEAD.format(server=server)}\n{marked(text, new_mark())}" for server, text in reported.items()]
        return Inject("\n".join(texts)) if texts else None
