"""Changes one setting of `config/config.toml` in place, so that comments and order stay."""

import json
import re
import tomllib
from copy import deepcopy
from dataclasses import asdict
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from ui_mcp import config as settings
from ui_mcp.config import Config
from ui_mcp.errors import ConfigError, InvalidArgumentsError, NotFoundError, RefusedError
from ui_mcp.fields import fields_of, record_in, unmarked
from ui_mcp.files import PRIVATE, write_atomic
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.trust import WIDENING, Agreements, digest

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
