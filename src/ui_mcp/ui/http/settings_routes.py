"""Routes of the person's listener for settings: the theme, and `config.toml`, which is changed in place."""

import json
import os
import re
import tomllib
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import asdict
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ui_mcp import config as settings
from ui_mcp.config import ENVIRONMENT, Config
from ui_mcp.errors import ConfigError, InvalidArgumentsError, NotFoundError, RefusedError
from ui_mcp.fields import fields_of, record_in, unmarked
from ui_mcp.files import PRIVATE, write_atomic
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.person import set_introduced
from ui_mcp.trust import WIDENING, Agreements, digest
from ui_mcp.ui.refusals import refusals
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.themes import chosen_theme, themes_of
from ui_mcp.version import bundled_version
from ui_mcp.webserver.responses import answering, body_of, text_of
from ui_mcp.workspace import Workspace


class SettingsRoutes:
    def __init__(self, host: UiServer) -> None:
        self._host = host

    def routes(self) -> Sequence[BaseRoute]:
        return [
            Route("/settings", answering(self.shown), methods=["GET"]),
            Route("/settings/values", answering(self.change), methods=["PUT"]),
            Route("/settings/agreement", answering(self.agree), methods=["POST"]),
            Route("/settings/agreement", answering(self.revoke), methods=["DELETE"]),
            Route("/settings/theme", answering(self.theme), methods=["PUT"]),
            Route("/settings/introduction", answering(self.introduction), methods=["PUT"]),
        ]

    async def shown(self, request: Request) -> Response:
        return JSONResponse(await to_thread.run_sync(self._shown))

    async def change(self, request: Request) -> Response:
        """Change one setting; one that widens rights counts as agreed to only if nothing else waited for that."""
        body = await body_of(request)
        key, file = text_of(body, "key"), self._workspace().config_file
        if "value" not in body:
            raise InvalidArgumentsError("value is missing; null removes the setting from the file")
        agreed = agreement(file)["agreed"]
        if key in WIDENING and body["value"] is not None and body.get("agree") is not True:
            raise RefusedError(f"{key} widens rights\nSend agree: true once the person has agreed.")
        await to_thread.run_sync(change, file, key, body["value"])
        if agreed:
            agree(file, agreement(file)["digest"])
        return JSONResponse(await to_thread.run_sync(self._shown))

    async def agree(self, request: Request) -> Response:
        digest = text_of(await body_of(request), "digest")
        await to_thread.run_sync(agree, self._workspace().config_file, digest)
        return JSONResponse(await to_thread.run_sync(self._shown))

    async def revoke(self, request: Request) -> Response:
        await to_thread.run_sync(revoke, self._workspace().config_file)
        return JSONResponse(await to_thread.run_sync(self._shown))

    async def theme(self, request: Request) -> Response:
        name = text_of(await body_of(request), "name")
        workspace = self._workspace()
        if name != "auto" and name not in {theme.name for theme in themes_of(workspace)}:
            raise NotFoundError(f"There is no theme {name!r}")
        await to_thread.run_sync(keep_theme, workspace, name)
        return JSONResponse({"theme": name})

    async def introduction(self, request: Request) -> Response:
        """Remember whether this person has seen the introduction."""
        seen = (await body_of(request)).get("seen") is True
        await to_thread.run_sync(set_introduced, seen)
        return JSONResponse({"introduced": seen})

    def _workspace(self) -> Workspace:
        return self._host.configured().workspace

    def _shown(self) -> JsonObject:
        configured = self._host.configured()
        workspace, file = configured.workspace, configured.workspace.config_file
        themes = [
            {"name": theme.name, "about": theme.description, "accent": theme.accent, "dark": theme.dark}
            for theme in themes_of(workspace)
        ]
        return {
            "theme": chosen_theme(workspace) or "auto",
            "themes": themes,
            "version": bundled_version(),
            "base_dir": str(workspace.base),
            "file": str(file),
            "status": self._host.status(),
            "sections": all_settings(file, configured.config),
            "overridden": {key: name for name, key in ENVIRONMENT.items() if os.environ.get(name)},
            "agreement": agreement(file),
            "restart": self._differs(),
            "refusals": refusals(workspace),
        }

    def _differs(self) -> bool:
        """Return whether the next start would use other settings than those in effect."""
        try:
            return self._host.next_config() != self._host.configured().config
        except ConfigError:
            return True


def keep_theme(workspace: Workspace, name: str) -> None:
    """Keep the theme of a project in `storage/settings.json`, beside what apps keep there; `auto` keeps none.

    Raises:
        RefusedError: the file cannot be written.
    """
    file = workspace.storage / "settings.json"
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = {}
    kept = {key: value for key, value in found.items() if key != "theme"} if isinstance(found, dict) else {}
    if workspace.storage_leads_away or file.is_symlink():
        raise RefusedError("storage/settings.json is a link; remove it")
    try:
        write_atomic(file, json.dumps(kept | ({} if name == "auto" else {"theme": name})).encode(), mode=PRIVATE)
    except OSError as error:
        raise RefusedError(f"Cannot write {file}: {error.strerror or error}") from error


_HEADER = re.compile(r"^\s*\[(?P<name>[^\[\]]+)\]\s*(?:#.*)?$")
_ANY_HEADER = re.compile(r"^\s*\[")


def all_settings(file: Path, running: Config) -> list[JsonObject]:
    """Return the sections of the configuration with each setting: what it means, its value and where that is from.

    Raises:
        ConfigError: the file cannot be read.
    """
    tree = _read(file)[1]
    return list(_sections(Config, "", tree, asdict(running)))


def _sections(kind: type, prefix: str, tree: JsonObject, running: JsonObject) -> list[JsonObject]:
    sections = []
    for name, info in fields_of(kind).items():
        inner = record_in(info.annotation)
        if inner is None or unmarked(info.annotation)[0] is not inner:
            continue
        key, here, now = f"{prefix}{name}", tree.get(name), running[name]
        known = here if isinstance(here, dict) else {}
        entries = [_entry(f"{key}.{one}", field, known, now) for one, field in _values(inner)]
        about = (inner.__doc__ or "").partition(":")[2].strip().rstrip(".")
        sections.append({"name": key, "about": about, "settings": entries})
        sections += _sections(inner, f"{key}.", known, now)
    return sections


def _values(kind: type) -> list[tuple[str, Any]]:
    return [(name, info) for name, info in fields_of(kind).items() if record_in(info.annotation) is None]


def _entry(key: str, info: Any, given: JsonObject, running: JsonObject) -> JsonObject:
    name = key.rpartition(".")[2]
    shape, choices = _shape(info.annotation)
    return {
        "key": key,
        "about": info.description,
        "kind": shape,
        "choices": choices,
        "default": _plain(info.default),
        "value": _plain(running[name]),
        "given": _plain(given.get(name)),
        "widens": key in WIDENING,
    }


def _plain(value: Any) -> Json:
    return list(value) if isinstance(value, tuple) else value


def _shape(annotation: Any) -> tuple[str, list[str]]:
    """Return how a value is edited: switch, number, text, choice or list; and the choices."""
    kind = unmarked(annotation)[0]
    kind = unmarked(kind)[0]
    if get_origin(kind) in {Union, UnionType}:
        inner = [one for one in get_args(kind) if one is not NoneType]
        return _shape(inner[0])
    if get_origin(kind) is Literal:
        return "choice", [str(one) for one in get_args(kind)]
    if get_origin(kind) is tuple:
        return "list", []
    return {bool: "switch", int: "number", float: "number"}.get(kind, "text"), []


def change(file: Path, key: str, value: Json) -> None:
    """Set one setting, or remove it from the file if `value` is None.

    Raises:
        NotFoundError: there is no such setting.
        InvalidArgumentsError: the value does not fit.
        RefusedError: the file is written in a way that cannot be changed here, or cannot be written.
    """
    _require_known(key)
    text, tree = _read(file)
    expected = _with(tree, key, value)
    changed = edit(text, key, value)
    try:
        after = tomllib.loads(changed)
    except ValueError:
        after = None
    if after != expected:
        raise RefusedError(f"{file.name} cannot be changed here\nEdit {key} in {file} yourself.")
    try:
        settings.check(expected, file.name)
    except ConfigError as error:
        raise InvalidArgumentsError(error.message) from error
    try:
        write_atomic(file, changed.encode(), mode=PRIVATE)
    except OSError as error:
        raise RefusedError(f"Cannot write {file}: {error.strerror or error}") from error


def edit(text: str, key: str, value: Json) -> str:
    """Return a TOML text in which `key` has another value; pure. The caller checks the result."""
    section, _, name = key.rpartition(".")
    lines = text.splitlines()
    begin, end = _section(lines, section)
    line = f"{name} = {_literal(value)}"
    if begin is None:
        return text if value is None else "\n".join([*lines, *([""] if lines else []), f"[{section}]", line, ""])
    at = next((at for at in range(begin, end) if re.match(rf"\s*{re.escape(name)}\s*=", lines[at])), None)
    if at is None:
        lines[begin:begin] = [] if value is None else [line]
    else:
        lines[at : _value_end(lines, at, end)] = [] if value is None else [line + _comment(lines[at])]
    return "\n".join(lines) + "\n"


def _section(lines: list[str], section: str) -> tuple[int | None, int]:
    """Return the lines of a table: the first after its header, and the one after its last."""
    begin = None
    for at, line in enumerate(lines):
        if begin is not None and _ANY_HEADER.match(line):
            return begin, at
        found = _HEADER.match(line)
        if begin is None and found and found["name"].replace(" ", "") == section:
            begin = at + 1
    return begin, len(lines)


def _value_end(lines: list[str], at: int, end: int) -> int:
    """Return the line after a value, which may be an array over several lines."""
    for last in range(at + 1, end + 1):
        try:
            tomllib.loads("\n".join(lines[at:last]))
        except ValueError:
            continue
        return last
    return at + 1


def _comment(line: str) -> str:
    """Return the comment behind a one-line value without quotes, else nothing."""
    found = re.fullmatch(r"[^\"'#\[]*?(\s+#.*)", line)
    return found[1] if found else ""


def _literal(value: Json) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    # JSON strings and arrays of them are TOML too, apart from the escape of U+007F.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def agreement(file: Path) -> JsonObject:
    """Return what the file asks for that widens rights, whether the person agreed, and the digest to agree to."""
    wide = settings.rights(file)
    return {
        "rights": [{"key": key, "value": value} for key, value in wide.items()],
        "agreed": not wide or Agreements().hold(settings.trusted_place(file), wide),
        "digest": digest(wide),
    }


def agree(file: Path, shown: str) -> None:
    """Store the agreement of the person to what was shown to them.

    Raises:
        RefusedError: the file has changed since.
    """
    wide = settings.rights(file)
    if digest(wide) != shown:
        raise RefusedError("The settings have changed since they were shown\nRead them again, then agree.")
    Agreements().add(settings.trusted_place(file), wide)


def revoke(file: Path) -> None:
    """Withdraw the agreement to a file's settings."""
    Agreements().remove(settings.trusted_place(file))


def _require_known(key: str) -> None:
    kind: Any = Config
    for part in key.split("."):
        info = fields_of(kind).get(part) if kind is not None else None
        if info is None:
            raise NotFoundError(f"There is no setting {key!r}")
        kind = record_in(info.annotation)
    if kind is not None:
        raise NotFoundError(f"{key!r} is a section, not a setting")


def _read(file: Path) -> tuple[str, JsonObject]:
    try:
        text = file.read_text(encoding="utf-8")
        return text, tomllib.loads(text)
    except FileNotFoundError:
        return "", {}
    except (OSError, ValueError) as error:
        raise ConfigError(f"{file} cannot be read: {error}") from error


def _with(tree: JsonObject, key: str, value: Json) -> JsonObject:
    changed = deepcopy(tree)
    *path, last = key.split(".")
    node = changed
    for part in path:
        if part not in node and value is None:
            return changed
        node = node.setdefault(part, {})
        if not isinstance(node, dict):
            raise InvalidArgumentsError(f"{key} is not in a table")
    node.pop(last, None)
    if value is not None:
        node[last] = value
    return changed
