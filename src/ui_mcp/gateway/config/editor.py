"""Edits nlui.yaml in place: only what changes is rewritten, and comments elsewhere stay."""

from collections.abc import Callable
from pathlib import Path

import yaml

from ui_mcp.errors import ConfigError, DiskError
from ui_mcp.files import PRIVATE, write_atomic
from ui_mcp.gateway.config.parse import parse
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.trust import Agreements, place_of


def change(file: Path, alter: Callable[[JsonObject], JsonObject]) -> None:
    """Replace the contents of a file by what `alter` returns, atomically and with mode 0600.

    Only the person makes changes here, so an agreement to the old contents is extended to the new ones.

    Raises:
        ConfigError: the file cannot be read or written.
    """
    try:
        before = file.read_bytes() if file.exists() else b""
        text = before.decode().replace("\r\n", "\n").replace("\r", "\n")
        old = parse(text.encode()) or {}
        _write_agreed(file, before, edited(text, alter(old)).encode())
    except OSError as error:
        raise ConfigError(f"Cannot write {file}: {error.strerror or error}") from error


def _write_agreed(file: Path, before: bytes, data: bytes) -> None:
    place, agreements = place_of(file), Agreements()
    agreed = agreements.hold(place, before)
    if agreed:
        agreements.add(place, data)  # first, so that a gateway that follows the file finds it agreed to
    try:
        write_atomic(file, data, mode=PRIVATE)
    except OSError:
        if agreed:
            agreements.add(place, before)
        raise


def own_file(file: Path, data: bytes) -> Path:
    """Write a file of mode 0600 in a folder of mode 0700, atomically; return its path.

    Raises:
        DiskError: the file cannot be written.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomic(file, data, mode=PRIVATE)
    except OSError as error:
        raise DiskError(f"Cannot write {file}", error) from error
    return file


def edited(text: str, wanted: JsonObject) -> str:
    """Return `text` changed so that it parses to `wanted`; what cannot be changed in place is written anew."""
    node = yaml.compose(text, Loader=yaml.SafeLoader) if text.strip() else None
    if isinstance(node, yaml.MappingNode) and not node.flow_style:
        changed = _mapping(text, node, parse(text.encode()), wanted)
        if _parses_to(changed, wanted):  # else unusual YAML: rewrite the file without its comments
            return changed
    return _dump(wanted, 0)


def _mapping(text: str, node: yaml.MappingNode, old: JsonObject, wanted: JsonObject) -> str:
    """Change a block mapping from its end to its beginning, so that earlier offsets stay valid."""
    indent = node.start_mark.column
    fresh = {key: value for key, value in wanted.items() if key not in old}
    if fresh:
        at = _end_of(text, node.end_mark.index)
        text = f"{text[:at]}{_newline(text[:at])}{_dump(fresh, indent)}{text[at:]}"
    for key_node, value_node in reversed(node.value):
        key = str(key_node.value)
        if key not in wanted:
            start, end = key_node.start_mark.index - indent, _end_of(text, value_node.end_mark.index)
            text = text[:start] + text[end:]
        elif wanted[key] != old.get(key):
            text = _value(text, (key_node, value_node), old.get(key), wanted[key])
    return text


def _value(text: str, pair: tuple[yaml.Node, yaml.Node], old: Json, wanted: Json) -> str:
    key_node, node = pair
    if (
        isinstance(node, yaml.MappingNode)
        and not node.flow_style
        and isinstance(old, dict)
        and isinstance(wanted, dict)
    ):
        return _mapping(text, node, old, wanted)
    if isinstance(node, yaml.SequenceNode) and not node.flow_style and _is_extension(old, wanted):
        at = _end_of(text, node.end_mark.index)
        more = _dump(list(wanted)[len(list(old)) :], node.start_mark.column)
        return f"{text[:at]}{_newline(text[:at])}{more}{text[at:]}"
    if isinstance(node, yaml.ScalarNode) and not isinstance(wanted, dict | list):
        return f"{text[: node.start_mark.index]}{_scalar(wanted)}{text[node.end_mark.index :]}"
    start, end = key_node.start_mark.index, _end_of(text, node.end_mark.index)
    indent = key_node.start_mark.column
    return text[:start] + _dump({str(key_node.value): wanted}, indent).lstrip(" ") + text[end:]


def _is_extension(old: Json, wanted: Json) -> bool:
    return isinstance(old, list) and isinstance(wanted, list) and wanted[: len(old)] == old and len(old) > 0


def _end_of(text: str, at: int) -> int:
    """Return where a value ends; comments and blank lines after it belong to what follows."""
    lines = text[:at].splitlines(keepends=True)
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    end = sum(map(len, lines))
    if end < at or text[end - 1 : end] == "\n":
        return end
    newline = text.find("\n", at)
    return newline + 1 if newline >= 0 else len(text)


def _newline(before: str) -> str:
    return "" if not before or before.endswith("\n") else "\n"


def _dump(value: Json, indent: int) -> str:
    text: str = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, default_flow_style=False, width=100)
    return "".join(f"{' ' * indent}{line}" for line in text.splitlines(keepends=True))


def _scalar(value: Json) -> str:
    text: str = yaml.safe_dump(value, allow_unicode=True, default_flow_style=True, width=10**6)
    return text.removesuffix("...\n").strip()


def _parses_to(text: str, wanted: JsonObject) -> bool:
    try:
        return bool(parse(text.encode()) == wanted)
    except (yaml.YAMLError, ConfigError, ValueError):
        return False
