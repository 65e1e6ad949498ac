"""Parses JSON or YAML 1.2 into plain values, with notes about oddities."""

from typing import TYPE_CHECKING

from ui_mcp.discovery import lazy
from ui_mcp.errors import ConfigError
from ui_mcp.gateway.config.notes import MAX_DEPTH, TOO_DEEP, Notes
from ui_mcp.jsontypes import Json, loads

if TYPE_CHECKING:
    from ui_mcp.gateway.config.yaml_reader import read_yaml
else:
    read_yaml = lazy("ui_mcp.gateway.config.yaml_reader:read_yaml")

MAX_BYTES = 50 * 1024 * 1024


def parse(data: bytes, notes: Notes | None = None) -> Json:
    """Parse a document.

    Raises:
        ConfigError: it is too large, nested too deeply, or neither JSON nor YAML.
    """
    if len(data) > MAX_BYTES:
        raise ConfigError(f"Document of {len(data)} bytes is larger than {MAX_BYTES}")
    text = decode(data)
    if text.lstrip()[:1] in {"{", "["}:
        try:
            # JSON is YAML too, but its parser is much faster.
            tree = loads(text)
        except ValueError:
            pass  # a YAML flow collection begins with the same characters
        else:
            _check_depth(tree)
            return tree
    return read_yaml(text, notes or Notes())


def _check_depth(tree: Json) -> None:
    level = [tree]
    for _ in range(MAX_DEPTH + 1):
        level = [
            member
            for node in level
            for member in (node.values() if type(node) is dict else node if type(node) is list else ())
            if type(member) in {dict, list}
        ]
        if not level:
            return
    raise ConfigError(TOO_DEEP)


def decode(data: bytes) -> str:
    """Decode UTF-8 or UTF-16, with or without a byte order mark; invalid bytes become U+FFFD."""
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if data.startswith(mark):
            return data.decode(encoding, errors="replace")
    return data.decode("utf-8", errors="replace")


def is_openapi(tree: Json) -> bool:
    """Return whether a value looks like an OpenAPI document of any version."""
    return (
        isinstance(tree, dict)
        and ("openapi" in tree or "swagger" in tree)
        and any(isinstance(tree.get(key), dict) for key in ("paths", "webhooks", "components"))
    )
