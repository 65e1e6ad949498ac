"""Reads an app that is not installed yet and tells what it could do, for the person to decide.

Found by patterns, so that it is a help for reading and no proof: what an app may really do is decided by
`[lua.permissions]`, the worker's sandbox and the page's content security policy.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ui_mcp.config import LuaPermissions
from ui_mcp.jsontypes import JsonObject
from ui_mcp.ui.audit_sources import LuaSource

Level = Literal["danger", "warning", "info"]
MAX_PLACES = 50
MAX_READ = 1024 * 1024
_KINDS = {
    ".lua": "code",
    ".html": "view",
    ".css": "style",
    ".md": "text",
    ".txt": "text",
    ".json": "data",
    ".svg": "picture",
    ".png": "picture",
    ".jpg": "picture",
    ".jpeg": "picture",
    ".gif": "picture",
    ".webp": "picture",
    ".js": "script",
}


@dataclass(frozen=True, slots=True)
class Place:
    """A line that shows an ability."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Ability:
    """Something that an app can do or attempt."""

    id: str
    level: Level
    title: str
    about: str
    """What it means in this project, and what holds the app back."""


def abilities(permissions: LuaPermissions) -> dict[str, Ability]:
    """Return every ability that is looked for, by id, worded for the permissions of the project; pure."""
    may_exec = permissions.exec
    wide_write = tuple(permissions.write) != LuaPermissions().write
    exec_about = (
        "This project lets apps start programs (lua.permissions.exec), with all of your rights."
        if may_exec
        else "Off in this project: except for simple file commands it is refused, and the page tells you."
    )
    write_about = (
        f"This project lets apps write to {_places(permissions.write)}."
        if wide_write
        else "Only inside storage/ of this project; anything else is refused."
    )
    found = (
        Ability("hidden", "danger", "Contains invisible characters", _HIDDEN_ABOUT),
        Ability("exec", "danger" if may_exec else "warning", "Starts programs", exec_about),
        Ability("code", "warning", "Runs code that it puts together", _CODE_ABOUT),
        Ability("write", "danger" if wide_write else "warning", "Writes or deletes files", write_about),
        Ability("read", "info", "Reads files", f"It may read {_places(permissions.read)}."),
        Ability("env", "info", "Reads environment variables", f"It may see: {', '.join(permissions.env) or 'none'}."),
        Ability("network", "warning", "Connects to other sites", _NETWORK_ABOUT),
        Ability("script", "warning", "Runs scripts in the page", _SCRIPT_ABOUT),
        Ability("shell", "warning", "Changes the shell around apps", _SHELL_ABOUT),
        Ability("start", "warning", "Runs at every start", _START_ABOUT),
        Ability("agent", "warning", "Sends events to your agent", _AGENT_ABOUT),
        Ability("listen", "info", "Receives messages of other programs", _LISTEN_ABOUT),
        Ability("program", "info", "Brings programs", "ui-mcp does not run them; you or your agent could."),
        Ability("texts", "info", "Brings texts that your agent reads", _TEXTS_ABOUT),
    )
    return {ability.id: ability for ability in found}


def _places(names: tuple[str, ...]) -> str:
    return ", ".join(names).replace("{project}", "the project").replace("{base_dir}", "the base directory") or "nothing"


_HIDDEN_ABOUT = "Text that is displayed in another order or not at all; in source code it is used to deceive readers."
_CODE_ABOUT = "What such code does cannot be seen by reading; the permissions of the project hold it back all the same."
_NETWORK_ABOUT = "Pages may request other sites over https, so what the app sees can leave this machine."
_SCRIPT_ABOUT = (
    "They see and operate every app in the page. They cannot reach your page, answer for you or widen rights."
)
_SHELL_ABOUT = "It replaces functions that all apps use, such as the menu."
_START_ABOUT = "init.lua runs in every session as soon as it starts, also while the app is not shown."
_AGENT_ABOUT = "Your agent reads them as what you did; a hostile app could put instructions into them."
_LISTEN_ABOUT = "Web pages with your bookmarklet and programs on this machine can send to it."
_TEXTS_ABOUT = "Requirements and designs are instructions for the agent that works on the app. Read them first."

_CALL = r"\s*[(\"'\[{]"
LUA = (
    ("exec", rf"\b(?:os\s*\.\s*execute|io\s*\.\s*popen){_CALL}"),
    ("code", rf"(?<![.:\w])(?:load|loadstring|dofile|loadfile|setfenv|getfenv){_CALL}|\bdebug\s*\.\s*\w+"),
    ("code", r"\brequire\s*\(?\s*[A-Za-z_]|(?<![.:\w])(?:os|io|_G|_ENV)\s*\["),
    ("write", rf"\bos\s*\.\s*(?:remove|rename|tmpname){_CALL}|\bio\s*\.\s*(?:output|tmpfile){_CALL}"),
    ("read", rf"\bio\s*\.\s*(?:lines|input|open){_CALL}"),
    ("env", rf"\bos\s*\.\s*getenv{_CALL}"),
    ("script", r"\bmcp\s*\.\s*code\s*="),
    ("shell", r"\bfunction\s+mcp\s*[.:]|\bmcp\s*\.\s*(?!code\b|value\b|state\b)\w+\s*=(?!=)"),
    ("agent", rf"\bpushState{_CALL}"),
    ("listen", rf"\bmcp\s*[.:]\s*subscribe{_CALL}"),
)
"""Patterns of Lua code, whose strings and comments are blank."""
LUA_TEXT = (("write", r"\bio\s*\.\s*open\s*\([^)\n]*,\s*[\"'][^\"'\n]*[wa+]"),)
"""Patterns that need the contents of strings."""
VIEW = (
    ("script", r"<script\b|\bui-code\b|\son\w+\s*=\s*[\"']|javascript:"),
    (
        "network",
        r"\bfetch\s*\(|XMLHttpRequest|WebSocket\s*\(|EventSource\s*\(|sendBeacon|window\s*\.\s*open\s*\(|\bimport\s*\(",
    ),
    ("network", r"\b(?:src|srcset|href|action|poster|data)\s*=\s*[\"']?\s*(?:https?:)?//|url\(\s*[\"']?(?:https?:)?//"),
)
STYLE = (("network", r"@import|url\(\s*[\"']?(?:https?:)?//"),)
SCRIPT = (*VIEW, ("script", r"\A"))
_PATTERNS = {"code": LUA_TEXT, "view": VIEW, "picture": VIEW, "script": SCRIPT, "style": STYLE}
_READ_BY_PEOPLE = frozenset({"code", "view", "script", "text", "data", "style"})
_HIDDEN = re.compile("[\u202a-\u202e\u2066-\u2069\u200b\u2060\ufeff\u00ad]")
_PROGRAMS = frozenset(
    {".sh", ".bash", ".py", ".rb", ".pl", ".exe", ".bat", ".cmd", ".ps1", ".so", ".dll", ".jar", ".wasm"}
)


@dataclass(slots=True)
class Review:
    """What was found in one app."""

    files: list[JsonObject] = field(default_factory=list)
    places: dict[str, list[Place]] = field(default_factory=dict)

    def add(self, ability: str, place: Place) -> None:
        known = self.places.setdefault(ability, [])
        if place not in known:
            known.append(place)

    def as_json(self, permissions: LuaPermissions) -> JsonObject:
        """Return files and abilities for the page, what is dangerous first."""
        order = ("danger", "warning", "info")
        listed = [
            {
                "id": ability.id,
                "level": ability.level,
                "title": ability.title,
                "about": ability.about,
                "count": len(found),
                "places": [{"path": one.path, "line": one.line, "text": one.text} for one in found[:MAX_PLACES]],
            }
            for ability in abilities(permissions).values()
            if (found := self.places.get(ability.id))
        ]
        return {
            "files": self.files,
            "size": sum(file["size"] for file in self.files),
            "abilities": sorted(listed, key=lambda one: order.index(one["level"])),
        }


def review(folder: Path) -> Review:
    """Read every file of an app."""
    found = Review()
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()):
        name = path.relative_to(folder).as_posix()
        kind = _KINDS.get(path.suffix.lower(), "program" if path.suffix.lower() in _PROGRAMS else "other")
        found.files.append({"path": name, "size": path.stat().st_size, "kind": kind})
        for ability, place in _found_in(name, kind, _text(path)):
            found.add(ability, place)
    return found


def _text(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(MAX_READ).decode("utf-8", "replace")


def _found_in(name: str, kind: str, text: str) -> Iterator[tuple[str, Place]]:
    """Yield the abilities that one file shows; pure."""
    yield from _matches(_PATTERNS.get(kind, ()), name, text, text)
    if kind == "code":
        yield from _matches(LUA, name, LuaSource(text).code, text)
    if name == "init.lua":
        yield "start", Place(name, 1, _line(text, 1))
    if kind in {"program", "text"}:
        yield "program" if kind == "program" else "texts", Place(name, 1, _line(text, 1) if kind == "text" else "")
    if kind in _READ_BY_PEOPLE:
        yield from _hidden_in(name, text)


def _hidden_in(name: str, text: str) -> Iterator[tuple[str, Place]]:
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        if _HIDDEN.search(line):
            yield "hidden", Place(name, number, _escaped(line))


def _matches(patterns: tuple[tuple[str, str], ...], name: str, code: str, text: str) -> Iterator[tuple[str, Place]]:
    for ability, pattern in patterns:
        for found in re.finditer(pattern, code, re.IGNORECASE if patterns is not LUA else 0):
            number = code.count("\n", 0, found.start()) + 1
            yield ability, Place(name, number, _line(text, number))


def _line(text: str, number: int) -> str:
    lines = text.split("\n")
    return _escaped(lines[number - 1].strip()) if number <= len(lines) else ""


def _escaped(line: str) -> str:
    return _HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", line)[:200]
