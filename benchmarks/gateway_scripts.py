"""Claim: a chain of calls as one script passes at most a tenth of the tokens through MCP that single calls pass.

`python gateway_scripts.py FOLDER` takes the gold chains of RestBench (tmdb.json and spotify.json with their *_oas.json)
from a folder; without one, a chain over an API of our own is measured. The API answers with the examples of its
document; where there is none, with those of the fields, ten rows in the outermost list and one in those inside. Both
ways begin with one search for the query; counted are arguments and results as o200k_base tokens. A script returns the
first three plain fields of its last result, as an answer to such a question would. Chains that name an operation which
the document does not have are left out.
"""

import json
import re
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import anyio
from anyio.abc import SocketStream
from claims import claim
from mcp_tokens import counted

from ui_mcp.gateway.config.settings import GatewaySettings
from ui_mcp.gateway.runner import connector
from ui_mcp.gateway.service import GatewayContext, GatewayService
from ui_mcp.gateway.source import Entry
from ui_mcp.gateway.toolset import GatewayToolset
from ui_mcp.toolkit.tool import Call, Text, ToolResult
from ui_mcp.validation import read

ROWS, DEPTH = 10, 8
FIRST_FIELDS = """
local found = {}
local function look(value)
  for key, one in pairs(value) do
    if type(one) == "table" then look(one)
    elseif #found < 3 then found[#found + 1] = {key, one} end
  end
end
look(last)
return found
"""


@dataclass(frozen=True)
class Chain:
    """A question and the operations, METHOD and path, that answer it."""

    query: str
    operations: tuple[str, ...]


def own() -> tuple[dict[str, Any], list[Chain]]:
    """Return the document of a shop with lists of a hundred rows, and a chain over it."""
    rows = [{"id": n, "customer": f"Customer {n}", "total": n * 7.5, "status": "open"} for n in range(100)]
    paths = {
        f"/{name}": {"get": {"operationId": f"list_{name}", "responses": {"200": {"description": "ok", "content": {
            "application/json": {"example": {"result": rows}}}}}}}
        for name in ("orders", "customers", "invoices")
    }  # fmt: skip
    document = {"openapi": "3.0.3", "info": {"title": "Shop", "version": "1"}, "paths": paths}
    return document, [Chain("open orders, customers and invoices", tuple(f"GET {path}" for path in paths))]


def restbench(folder: Path, name: str) -> tuple[dict[str, Any], list[Chain]]:
    document = json.loads((folder / f"{name}_oas.json").read_text())
    asked = json.loads((folder / f"{name}.json").read_text())
    return document, [Chain(one["query"], tuple(step.strip() for step in one["solution"])) for one in asked]


class Examples:
    """Answers every request with the example of its operation."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document

    async def handle(self, stream: SocketStream) -> None:
        async with stream:
            received = b""
            while b"\r\n\r\n" not in received:
                received += await stream.receive()
            method, target, _ = received.decode().split(" ", 2)
            body = json.dumps(self._example(method.lower(), target.partition("?")[0])).encode()
            head = (
                f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close"
            )
            await stream.send(head.encode() + b"\r\n\r\n" + body)

    def _example(self, method: str, path: str) -> Any:
        for known, operations in self._document["paths"].items():
            parts, given = known.split("/"), path.split("/")
            if len(parts) == len(given) and all(a == b or a[:1] == "{" for a, b in zip(parts, given, strict=True)):
                return self._answer(operations[method]["responses"])
        return {}

    def _answer(self, responses: dict[str, Any]) -> Any:
        good = next((self._followed(one) for code, one in responses.items() if code[0] == "2"), {})
        content = good.get("content", {}).get("application/json", {})
        examples = [content["example"]] if "example" in content else []
        examples += [one["value"] for one in content.get("examples", {}).values()]
        return examples[0] if examples else self._made_up(content.get("schema", {}), ROWS, DEPTH)

    def _made_up(self, schema: dict[str, Any], rows: int, depth: int) -> Any:
        schema = self._followed(schema)
        if "example" in schema or depth == 0:
            return schema.get("example")
        if parts := schema.get("allOf"):
            made = [self._made_up(part, rows, depth) for part in parts]
            return {name: value for part in made if isinstance(part, dict) for name, value in part.items()}
        if schema.get("type") == "array":
            return [self._made_up(schema["items"], 1, depth - 1)] * rows
        if "properties" in schema:
            return {name: self._made_up(one, rows, depth - 1) for name, one in schema["properties"].items()}
        return value_of(schema)

    def _followed(self, value: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in value:
            found = self._document
            for key in value["$ref"].removeprefix("#/").split("/"):
                found = found[key]
            value = found
        return value


@asynccontextmanager
async def gateway(document: dict[str, Any], folder: Path) -> AsyncIterator[GatewayService]:
    server = Examples(document)
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(anyio.abc.SocketAttribute.local_port)
    (folder / "api.json").write_text(json.dumps({**document, "servers": []}))
    target = {"name": "api", "spec": str(folder / "api.json"), "base_url": f"http://127.0.0.1:{port}"}
    settings = read(GatewaySettings, {"targets": [target], "policy": {"mode": "host"}})
    context = GatewayContext(folder / "data", folder / "cache", connector(), mode="host")
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, server.handle)
        async with GatewayService(settings, context).running() as found:
            await found.sources.ready()
            yield found
        tasks.cancel_scope.cancel()


def text_of(result: ToolResult) -> str:
    return "\n".join(part.text for part in result.content if isinstance(part, Text))


def arguments_of(entry: Entry) -> dict[str, Any]:
    """Return the required arguments with values of their types."""
    schema = entry.tool.input_schema
    return {name: value_of(schema["properties"][name]) for name in schema.get("required", ())}


def value_of(schema: dict[str, Any]) -> object:
    if "enum" in schema:
        return schema["enum"][0]
    return {"integer": 7, "number": 7, "boolean": True}.get(schema.get("type", ""), "x")


def lua(value: object) -> str:
    return json.dumps(value) if not isinstance(value, bool) else str(value).lower()


async def both_ways(tools: GatewayToolset, chain: Chain, entries: Sequence[Entry]) -> tuple[list[str], list[str]]:
    """Return what passes through MCP: call by call, and as a script."""
    single, lines = [], []
    for entry in entries:
        arguments = arguments_of(entry)
        single += [json.dumps(arguments), text_of(await tools.call(entry.name, arguments, Call()))]
        fields = ", ".join(f"[{json.dumps(name)}] = {lua(value)}" for name, value in arguments.items())
        lines.append(f'local last = call("{entry.name}", {{{fields}}})')
    code = "\n".join(lines) + FIRST_FIELDS
    result = await tools.call("nlui__run", {"code": code}, Call())
    if result.is_error:
        raise RuntimeError(text_of(result))
    found = [
        text_of(await tools.call("nlui__search", {"query": chain.query, "stubs": on}, Call())) for on in (False, True)
    ]
    return [chain.query, found[0], *single], [chain.query, found[1], code, text_of(result)]


def _key(operation: str) -> str:
    """Return an operation without the names of its parameters, which the data set sometimes mistakes."""
    return re.sub(r"\{[^}]*\}", "{}", operation)


async def measure(name: str, document: dict[str, Any], chains: Sequence[Chain]) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        async with gateway(document, Path(folder)) as found:
            tools = GatewayToolset(found)
            by_key = {_key(f"{entry.method} {entry.path}"): entry for entry in found.catalog.entries()}
            known = [chain for chain in chains if all(_key(one) in by_key for one in chain.operations)]
            texts = [await both_ways(tools, chain, [by_key[_key(one)] for one in chain.operations]) for chain in known]
    counts = counted(["\n".join(way) for pair in texts for way in pair])
    single, script = counts[::2], counts[1::2]
    worst = max(b / a for a, b in zip(single, script, strict=True))
    print(
        f"{len(known)} of {len(chains)} chains: call by call {sum(single)} tokens (median {median(single)}), "
        f"as scripts {sum(script)}"
    )
    print(f"  worst chain: {worst:.2f}")
    return claim(f"tokens of scripts / call by call, all chains{name}", sum(script) / sum(single), at_most=0.1)


def main() -> int:
    sets = (
        {f" of {name}": restbench(Path(sys.argv[1]), name) for name in ("tmdb", "spotify")}
        if sys.argv[1:]
        else {"": own()}
    )
    held = [anyio.run(measure, name, *found) for name, found in sets.items()]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
