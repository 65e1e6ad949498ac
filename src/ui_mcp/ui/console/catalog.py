"""The apps of a project as its console shows them, with texts, checklists and findings; and their removal."""

import json
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

from ui_mcp.config import LuaPermissions
from ui_mcp.errors import NotFoundError, RefusedError, UiMcpError
from ui_mcp.files import PRIVATE, write_atomic
from ui_mcp.jsontypes import JsonObject
from ui_mcp.ui.app_files import app_folder
from ui_mcp.ui.audit import audit
from ui_mcp.ui.checkpoints import Checkpoints
from ui_mcp.ui.console.review import review
from ui_mcp.workspace import Workspace, make_own

MAX_TEXT = 128 * 1024
MAX_APPS = 500
_NAME = re.compile(r"[A-Za-z0-9_-]{1,100}")
_ITEM = re.compile(r"^\s*[-*]\s+\[(?P<mark>[ xX])\]\s+(?P<text>.+)$")
_HEADING = re.compile(r"^(?P<marks>#{1,6})\s+(?P<text>.+?)\s*#*$")
_ISSUES = re.compile(r"\b(?:issues?|bugs?|gaps?)\b", re.IGNORECASE)
_FIXED = re.compile(r"\b(?:fixed|resolved|closed|done)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Checklist:
    """What a TESTING.md says: tests with their state, and issues that are known or fixed."""

    tests: tuple[tuple[str, bool], ...] = ()
    known: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()

    def as_json(self) -> JsonObject:
        return {
            "tests": [{"text": text, "passed": passed} for text, passed in self.tests],
            "known": list(self.known),
            "fixed": list(self.fixed),
        }


def parse_checklist(text: str) -> Checklist:
    """Read a TESTING.md: `- [x] …` are tests; headings and items below "Known Issues" and "Fixed Issues" are issues."""
    tests: list[tuple[str, bool]] = []
    issues: dict[str, list[str]] = {"known": [], "fixed": []}
    section, level = "", 0
    for line in text.splitlines():
        if heading := _HEADING.match(line):
            marks = len(heading["marks"])
            if section and marks > level:
                issues[section].append(_plain(heading["text"]))
                continue
            section, level = _section(heading["text"]), marks
        elif not section and (item := _ITEM.match(line)):
            tests.append((_plain(item["text"]), item["mark"] != " "))
        elif section and line.startswith(("- ", "* ")):
            issues[section].append(_plain(re.sub(r"^[-*]\s+(\[[ xX]\]\s+)?", "", line)))
    return Checklist(tuple(tests), tuple(issues["known"]), tuple(issues["fixed"]))


def _section(heading: str) -> str:
    if not _ISSUES.search(heading):
        return ""
    return "fixed" if _FIXED.search(heading) else "known"


def _plain(text: str) -> str:
    return re.sub(r"[*`]", "", text).strip()[:300]


def listed(workspace: Workspace) -> list[JsonObject]:
    """Return every app in short, by name."""
    return [_short(workspace, name, folder) for name, folder in _folders(workspace)]


def described(workspace: Workspace, permissions: LuaPermissions, name: str) -> JsonObject:
    """Return everything about one app: its texts, tests, the findings of the audit and its files.

    Raises:
        NotFoundError: there is no such app.
        RefusedError: it is a link that leaves the project.
    """
    folder = app_folder(workspace, name)
    checklist = parse_checklist(_text(folder, "TESTING.md"))
    found = audit(workspace.apps, name) if (folder / "app.lua").is_file() else {"violations": [], "warnings": []}
    return {
        **_short(workspace, name, folder),
        "requirements": _text(folder, "requirements.md"),
        "design": _text(folder, "design.md"),
        "readme": _text(folder, "README.md"),
        **checklist.as_json(),
        "violations": found["violations"],
        "warnings": found["warnings"],
        "abilities": review(folder).as_json(permissions)["abilities"],
        "files": list(_files(folder)),
        "checkpoints": _checkpoints(workspace, name),
    }


def _short(workspace: Workspace, name: str, folder: Path) -> JsonObject:
    title, about = _heading(folder, name)
    checklist = parse_checklist(_text(folder, "TESTING.md"))
    source = _source(workspace, name)
    return {
        "name": name,
        "title": title,
        "about": about,
        "built": (folder / "app.lua").is_file() and any((folder / "viewdefs").glob("*.html")),
        "scenario": (folder / "test.json").is_file(),
        "passed": sum(passed for _, passed in checklist.tests),
        "total": len(checklist.tests),
        "issues": len(checklist.known),
        "linked": (workspace.apps / name).is_symlink(),
        "source": source,
    }


def _folders(workspace: Workspace) -> Iterator[tuple[str, Path]]:
    names = sorted(place.name for place in workspace.apps.glob("*") if _NAME.fullmatch(place.name))
    for name in names[:MAX_APPS]:
        try:
            folder = app_folder(workspace, name)
        except UiMcpError:  # a file, or a link out of the project
            continue
        if (folder / "app.lua").is_file() or (folder / "requirements.md").is_file():
            yield name, folder


def _heading(folder: Path, name: str) -> tuple[str, str]:
    """Return title and first paragraph of an app's README or requirements."""
    for file in ("README.md", "requirements.md"):
        heading, _, rest = _text(folder, file).partition("\n")
        if heading.startswith("# "):
            paragraph = rest.strip().partition("\n\n")[0]
            about = "" if paragraph.startswith(("#", "-", "*", "|", "```")) else " ".join(paragraph.split())
            return heading[2:].strip()[:100], about[:600]
    return name.replace("-", " ").replace("_", " ").capitalize(), ""


def _text(folder: Path, name: str) -> str:
    file = folder / name
    if file.is_symlink():  # it may lead to a file that the project must not show
        return ""
    try:
        with file.open("rb") as stream:
            return stream.read(MAX_TEXT).decode("utf-8", "replace")
    except OSError:
        return ""


def _files(folder: Path) -> Iterator[JsonObject]:
    for path in sorted(folder.rglob("*"))[:2000]:
        if path.is_file() and not path.is_symlink() and not any(part.startswith(".") for part in path.parts[-3:]):
            yield {"path": path.relative_to(folder).as_posix(), "size": path.stat().st_size}


def _source(workspace: Workspace, name: str) -> JsonObject | None:
    try:
        found = json.loads((workspace.own / "sources" / f"{name}.json").read_bytes())
        source = {"kind": str(found["kind"]), "label": str(found["label"]), "at": int(found["at"])}
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return {**source, "changed": _changed(workspace, name)}


def _changed(workspace: Workspace, name: str) -> bool:
    try:
        return Checkpoints(workspace, name).changed_since_baseline()
    except UiMcpError:
        return False


def _checkpoints(workspace: Workspace, name: str) -> int:
    try:
        return Checkpoints(workspace, name).count()
    except UiMcpError:
        return 0


MAX_KEPT = 20
_ID = re.compile(r"[0-9a-f]{16}")


def remove(workspace: Workspace, name: str) -> str:
    """Move an app out of `apps/` and return the id by which `restore` brings it back.

    Raises:
        NotFoundError: there is no such app.
        RefusedError: it is a link, or cannot be moved.
    """
    place = workspace.apps / name
    app_folder(workspace, name)
    if place.is_symlink():
        raise RefusedError(f"apps/{name} is a link to {place.resolve()}\nRemove the link yourself; its files stay.")
    make_own(workspace)
    number = token_hex(8)
    kept = workspace.own / "deleted" / number
    kept.mkdir(parents=True, mode=0o700)
    write_atomic(kept / "app.json", json.dumps({"name": name, "at": int(time.time())}).encode(), mode=PRIVATE)
    try:
        shutil.move(place, kept / "files")
        source = workspace.own / "sources" / f"{name}.json"
        with suppress(FileNotFoundError):
            shutil.move(source, kept / "source.json")
    except OSError as error:
        raise RefusedError(f"apps/{name} cannot be deleted: {error.strerror or error}") from error
    _forget_oldest(kept.parent)
    return number


def restore(workspace: Workspace, number: str) -> str:
    """Bring a deleted app back and return its name.

    Raises:
        NotFoundError: it is not kept any more.
        RefusedError: there is another app of this name now.
    """
    kept = workspace.own / "deleted" / number
    try:
        name = str(json.loads((kept / "app.json").read_bytes())["name"]) if _ID.fullmatch(number) else ""
    except (OSError, ValueError, KeyError):
        name = ""
    if not name or not (kept / "files").is_dir():
        raise NotFoundError("This app is no longer kept")
    target = workspace.apps / name
    if target.exists() or target.is_symlink():
        raise RefusedError(f"There is another app {name!r} now\nRename or delete it first.")
    shutil.move(kept / "files", target)
    with suppress(FileNotFoundError):
        shutil.move(kept / "source.json", workspace.own / "sources" / f"{name}.json")
    shutil.rmtree(kept, ignore_errors=True)
    return name


def _forget_oldest(folder: Path) -> None:
    kept = sorted((place for place in folder.iterdir() if place.is_dir()), key=lambda place: place.stat().st_mtime)
    for place in kept[:-MAX_KEPT]:
        shutil.rmtree(place, ignore_errors=True)
