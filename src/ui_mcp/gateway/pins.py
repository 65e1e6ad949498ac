"""Tool pins: what the tools of a source said when they were first used; a change waits for a person.

A server or a published document may describe itself harmlessly at first and change what its tools say, take or do
later ("rug pull").
"""

import difflib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, field
from pathlib import Path
from threading import Lock

import anyio

from ui_mcp.errors import DeniedError
from ui_mcp.files import PRIVATE, write_atomic
from ui_mcp.gateway.apps.addresses import ui_of
from ui_mcp.gateway.internal_source import InternalSource
from ui_mcp.gateway.sanitize import escape_control
from ui_mcp.gateway.source import Entry
from ui_mcp.jsontypes import Json, JsonObject, canonical, digest
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.log import logger
from ui_mcp.toolkit.tool import Annotations, Tool, ToolResult, structured_result
from ui_mcp.validation import InvalidDataError, read_json

_log = logger("gateway.pins")
_MAX_DIFFERENCE = 6_000
_SPACES = re.compile(r"[ \t\r\n]+")
_DIGITS = re.compile(r"[0-9]+")
_WHOLE = ""
"""In a file of pins, beside the tools: the digest of all of them, as they were when all were admitted."""
_TEXTS = frozenset({"description", "title"})

_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in ("source", "tool", "change", "difference", "digest")},
    "required": ["source", "tool", "digest"],
}
ACCEPT = Entry(
    Tool("tools__accept", "Accept a changed tool", "A server changed a tool.", _SCHEMA, annotations=Annotations()),
    "tools",
    "builtin",
    "accept",
)


@dataclass(frozen=True, slots=True)
class Change:
    """A tool that is new, or not what it was."""

    source: str
    tool: str
    change: str
    """`new`, or what changed: `description`, `schema`, `effect`."""
    difference: str
    digest: str

    def arguments(self) -> JsonObject:
        return asdict(self)


def definition(tool: Tool) -> JsonObject:
    """Return what a model or a person decides by: texts, schemas and announced effect."""
    hints, ui = tool.annotations, ui_of(tool)
    app: JsonObject = {"app": ui} if ui else {}
    return {
        **app,
        "title": tool.title,
        "description": tool.description,
        "input": tool.input_schema,
        "output": tool.output_schema,
        "effect": [hints.read_only, hints.destructive, hints.idempotent, hints.open_world],
    }


def operation_definition(entry: Entry) -> JsonObject:
    """Return what a model or a person decides by about an operation of an API: the request as well."""
    return {**definition(entry.tool), "request": [entry.method, entry.path, entry.server]}


def fingerprint(defined: JsonObject) -> str:
    """Return a digest that ignores cosmetic changes: white space and numbers in texts."""
    return digest(_plain(defined))


def _plain(value: Json) -> Json:
    match value:
        case dict():
            return {key: _plain_text(one) if key in _TEXTS else _plain(one) for key, one in value.items()}
        case list():
            return [_plain(one) for one in value]
        case _:
            return value


def _plain_text(text: Json) -> Json:
    if not isinstance(text, str):  # a property that is named `title`
        return _plain(text)
    # Only ASCII: a change that hides something in other characters is not cosmetic. Some servers write the date.
    return _DIGITS.sub("0", _SPACES.sub(" ", text)).strip()


def described(source: str, tool: str, before: JsonObject | None, after: JsonObject) -> Change:
    """Say what is new about a tool, so that a person can decide; hidden characters are shown."""
    kind = "new" if before is None else _kind(before, after)
    lines = difflib.unified_diff(_lines(before), _lines(after), "before", "now", lineterm="", n=2)
    text = escape_control("\n".join(lines))[:_MAX_DIFFERENCE]
    return Change(source, tool, kind, text, fingerprint(after))


def _kind(before: JsonObject, after: JsonObject) -> str:
    parts = {
        "description": ("title", "description"),
        "schema": ("input", "output"),
        "effect": ("effect", "app"),
        "request": ("request",),
    }
    changed = [
        part
        for part, keys in parts.items()
        if any(canonical(before.get(key)) != canonical(after.get(key)) for key in keys)
    ]
    return ", ".join(changed)


def _lines(defined: JsonObject | None) -> list[str]:
    return json.dumps(defined, indent=1, ensure_ascii=False).splitlines() if defined is not None else []


class PinFile:
    """The pins of one source at one place, in a file of mode 0600."""

    def __init__(self, folder: Path, source: str, where: str) -> None:
        self._file = folder / f"{source}-{digest([source, where])[:16]}.json"
        self._changing = Lock()

    def load(self) -> dict[str, JsonObject] | None:
        """Return the pinned definitions by tool; None if the source was never used, or the file is damaged."""
        try:
            return read_json(dict[str, JsonObject], self._file.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, InvalidDataError) as error:
            _log.warning("%s cannot be read; all tools of the server count as new: %s", self._file, error)
            return {}

    def save(self, pins: dict[str, JsonObject]) -> None:
        with self._changing:
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_atomic(self._file, json.dumps(pins, ensure_ascii=False).encode(), mode=PRIVATE)


def _changes(source: str, pins: dict[str, JsonObject], defined: dict[str, JsonObject]) -> list[Change]:
    before = {name: pins.get(name) for name in defined}
    return [
        described(source, name, old, defined[name])
        for name, old in before.items()
        if old is None or fingerprint(old) != fingerprint(defined[name])
    ]


@dataclass(slots=True)
class _Held:
    """A tool that waits for a person."""

    change: Change
    after: JsonObject
    file: PinFile


@dataclass(slots=True)
class ToolPins:
    """Lets the tools of a source through as long as they are what they were."""

    folder: Path
    ask: Callable[[Change], None]
    """Asks a person about a change, later."""
    accepted: Callable[[str], None] = lambda _: None
    """Called with the source whose tool was accepted."""
    _held: dict[tuple[str, str], _Held] = field(default_factory=dict)

    async def admit(self, source: str, where: str, tools: Sequence[Tool]) -> list[Tool]:
        """Return the tools of a server that are as they were; pin all when it is used for the first time."""
        defined: dict[str, JsonObject] = {}
        for tool in tools:
            defined.setdefault(tool.name, definition(tool))
        held = await self._compare(source, where, defined)
        return [tool for tool in tools if tool.name not in held]

    async def admit_operations(self, source: str, where: str, entries: Sequence[Entry]) -> frozenset[str]:
        """Return the names of the tools of an API that are held back; pin all when it is used for the first time."""
        names = {entry.name.removeprefix(f"{source}__"): entry for entry in entries}
        defined = {name: operation_definition(entry) for name, entry in names.items()}
        return frozenset(names[name].name for name in await self._compare(source, where, defined))

    async def _compare(self, source: str, where: str, defined: dict[str, JsonObject]) -> set[str]:
        file = PinFile(self.folder, source, where)
        pins = await anyio.to_thread.run_sync(file.load)
        for key in [key for key in self._held if key[0] == source]:
            del self._held[key]
        whole = await anyio.to_thread.run_sync(digest, defined)
        if pins is None:
            await self._save(file, {**defined, _WHOLE: {"digest": whole}})
            return set()
        if pins.get(_WHOLE) == {"digest": whole}:  # the usual case, and documents may have thousands of operations
            return set()
        changes = await anyio.to_thread.run_sync(_changes, source, pins, defined)
        for change in changes:
            self._held[source, change.tool] = _Held(change, defined[change.tool], file)
            _log.warning("%s: the tool %s is held back: %s", source, change.tool, change.change)
            self.ask(change)
        return {change.tool for change in changes}

    def held(self, name: str) -> Change | None:
        """Return why a tool is held back, by its listed name."""
        return next((one.change for (source, tool), one in self._held.items() if name == f"{source}__{tool}"), None)

    def notes(self, source: str) -> list[str]:
        """Return a line for each tool of a source that is held back."""
        return [
            f"tool {tool!r} is held back: {one.change.change}; a person must accept it"
            for (owner, tool), one in self._held.items()
            if owner == source
        ]

    async def accept(self, source: str, tool: str, digest_seen: str) -> None:
        """Pin the definition that a person saw.

        Raises:
            DeniedError: the tool has changed again, or is no longer held back.
        """
        held = self._held.get((source, tool))
        if held is None or held.change.digest != digest_seen:
            raise DeniedError(f"{source}'s tool {tool} has changed again; look at the newer question")
        pins = await anyio.to_thread.run_sync(held.file.load) or {}
        pins.pop(_WHOLE, None)
        await self._save(held.file, {**pins, tool: held.after})
        self.accepted(source)

    async def _save(self, file: PinFile, pins: dict[str, JsonObject]) -> None:
        try:
            await anyio.to_thread.run_sync(file.save, pins)
        except OSError as error:  # a full disk must not keep a server from being used
            _log.warning("cannot pin tools: %s", error)


def pin_source(pins: ToolPins) -> InternalSource:
    """Return the acceptance of changed tools as a source with one tool."""

    async def accept(arguments: JsonObject) -> ToolResult:
        await pins.accept(arguments["source"], arguments["tool"], arguments["digest"])
        return structured_result({"accepted": f"{arguments['source']}__{arguments['tool']}"})

    return InternalSource(ACCEPT, accept, _shown)


def _shown(arguments: JsonObject) -> JsonObject:
    changed = f"{arguments['source']}__{arguments['tool']} ({arguments['change']})"
    return {"method": "ACCEPT", "url": changed, "body": arguments["difference"]}
