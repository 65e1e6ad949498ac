"""What a request to a model carries of one MCP server: definitions of tools, instructions, names of tools."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hosts.model_server import named


@dataclass(frozen=True)
class Shown:
    """The texts of a server in one request."""

    tools: tuple[str, ...] = ()
    """Definitions, as JSON."""
    instructions: str = ""
    names: tuple[str, ...] = ()
    """Tools that are only named, to be loaded when they are needed."""

    def texts(self) -> list[str]:
        return [*self.tools, *([self.instructions] if self.instructions else []), *self.names]


def shown(body: dict[str, Any], tools: Sequence[str], instructions: str) -> Shown:
    """Return what a request shows of a server with these tools and instructions."""
    definitions = {name: tool for name, tool in _definitions(body.get("tools") or ()) if _is_ours(name, tools)}
    said = "\n".join(_texts({key: value for key, value in body.items() if key != "tools"}))
    told = instructions if _squeezed(instructions)[:200] in _squeezed("\n".join(_texts(body))) else ""
    rest = said.replace(instructions, "")
    named_only = [tool for tool in tools if f"_{tool}" in rest and not any(named(name, tool) for name in definitions)]
    texts = (json.dumps(one, separators=(",", ":"), ensure_ascii=False) for one in definitions.values())
    return Shown(tuple(texts), told, tuple(f"mcp__ui__{tool}" for tool in named_only))


def _is_ours(name: str, tools: Sequence[str]) -> bool:
    return any(named(name, tool) for tool in tools)


def _definitions(tools: Sequence[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    for tool in tools:
        inner = tool.get("functionDeclarations") or (tool.get("tools") if tool.get("type") == "namespace" else None)
        if inner:
            yield from _definitions(inner)
        elif name := tool.get("name") or tool.get("function", {}).get("name"):
            yield name, tool


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for one in value.values():
                yield from _texts(one)
        case list():
            for one in value:
                yield from _texts(one)


def _squeezed(text: str) -> str:
    return " ".join(text.split())
