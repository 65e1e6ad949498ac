"""Claim: load and first tools/list take at most a fifth of FastMCP's time; Stripe's list at most a tenth of its bytes.

`python gateway_catalogue.py FOLDER` takes Stripe's and Slack's documents from a folder (or UI_MCP_OPENAPI_DIR);
without one a generated document of 300 operations is used. We read each document unchanged; FastMCP gets a copy that is
repaired so that it loads: JSON of version 3 with text where it requires text. Repair and imports are not timed.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from claims import claim
from clients import python_of

THEIRS = """
import json, resource, sys, time
import anyio, httpx2
from fastmcp import Client, FastMCP
start = time.perf_counter()
document = json.load(open(sys.argv[1]))
async def main():
    server = FastMCP.from_openapi(document, client=httpx2.AsyncClient(base_url="http://127.0.0.1:9"))
    async with Client(server) as client:
        listed = (await client.list_tools_mcp()).model_dump_json(by_alias=True, exclude_none=True)
    spent = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"seconds": spent, "bytes": len(listed), "tools": listed.count('"inputSchema"'), "kb": memory}))
anyio.run(main)
"""


def ours(document: str) -> None:
    """Time our own code: read the document, build the tools, encode the list."""
    import anyio

    from ui_mcp.gateway.config.settings import GatewaySettings
    from ui_mcp.gateway.runner import connector
    from ui_mcp.gateway.service import GatewayContext, GatewayService
    from ui_mcp.gateway.toolset import GatewayToolset
    from ui_mcp.jsontypes import dumps
    from ui_mcp.mcp_server.tools import listed_tool
    from ui_mcp.toolkit.tool import Call
    from ui_mcp.validation import read

    start = time.perf_counter()

    async def main() -> None:
        with tempfile.TemporaryDirectory() as folder:
            target = {"name": "api", "spec": document, "base_url": "http://127.0.0.1:9"}
            settings = read(GatewaySettings, {"targets": [target]})
            around = GatewayContext(Path(folder) / "data", Path(folder) / "cache", connector())
            async with GatewayService(settings, around).running() as gateway:
                tools = await GatewayToolset(gateway).tools(Call())
                listed = dumps({"tools": [listed_tool(tool) for tool in tools]})
                spent = time.perf_counter() - start
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(json.dumps({"seconds": spent, "bytes": len(listed), "tools": len(tools), "kb": memory}))

    anyio.run(main)


def repaired(document: Path) -> dict[str, Any]:
    """Return a document that FastMCP accepts: the same operations in version 3."""
    import anyio

    from ui_mcp.gateway.config.parse import parse
    from ui_mcp.gateway.openapi.document import load
    from ui_mcp.gateway.openapi.fetch import Fetcher
    from ui_mcp.gateway.openapi.operations import read_api

    tree: dict[str, Any] = parse(document.read_bytes())
    if "openapi" in tree:
        return tree

    async def read() -> Any:
        async with Fetcher(str(document)) as fetcher:
            root = await fetcher.root()
            assert root is not None
            return read_api(await load(fetcher, root))

    api = anyio.run(read)
    paths: dict[str, Any] = {}
    for operation in api.operations:
        declared: dict[str, Any] = {
            "operationId": operation.operation_id,
            "summary": operation.summary,
            "description": operation.description,
            "parameters": [
                {"name": p.name, "in": p.location, "required": p.required, "schema": p.schema}
                for p in operation.parameters
            ],
            "responses": tree["paths"][operation.path][operation.method.lower()].get("responses", {}),
        }
        for answer in declared["responses"].values():
            schema = answer.pop("schema", None)
            answer.pop("examples", None)
            if schema:
                answer["content"] = {"application/json": {"schema": _references(schema)}}
        if operation.body:
            content = {one.media_type: {"schema": one.schema} for one in operation.body.variants}
            declared["requestBody"] = {"required": operation.body.required, "content": content}
        paths.setdefault(operation.path, {})[operation.method.lower()] = declared
    schemas = {name: _references(schema) for name, schema in tree.get("definitions", {}).items()}
    return {"openapi": "3.1.0", "info": tree["info"], "paths": paths, "components": {"schemas": schemas}}


def _references(node: Any) -> Any:
    if isinstance(node, list):
        return [_references(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {key: _references(value) for key, value in node.items() if not (key == "required" and value is True)}
    if isinstance(kept.get("$ref"), str):
        kept["$ref"] = kept["$ref"].replace("#/definitions/", "#/components/schemas/")
    if isinstance(kept.get("type"), list):
        kinds = [kind for kind in kept["type"] if kind != "null"]
        kept["type"] = kinds[0] if kinds else "string"
    if isinstance(kept.get("items"), list):
        kept["items"] = kept["items"][0] if kept["items"] else {}
    return kept


def generated(folder: Path) -> Path:
    """Return a document of 300 operations with shared and recursive schemas."""
    properties = {f"field{n}": {"type": "string", "description": "A field of a thing. " * 5} for n in range(20)}
    thing = {
        "type": "object",
        "properties": {**properties, "parts": {"type": "array", "items": {"$ref": "#/components/schemas/Thing"}}},
    }
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}}
    answer = {"200": {"description": "ok", **body}}
    paths = {
        f"/things{n}": {
            "get": {"operationId": f"list{n}", "summary": "List things", "responses": answer},
            "post": {"operationId": f"add{n}", "summary": "Add a thing", "requestBody": body, "responses": answer},
        }
        for n in range(150)
    }
    file = folder / "made-up.json"
    info = {"title": "Made up", "version": "1"}
    file.write_text(
        json.dumps({"openapi": "3.0.3", "info": info, "paths": paths, "components": {"schemas": {"Thing": thing}}})
    )
    return file


def figures(*words: str) -> dict[str, float]:
    found: dict[str, float] = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    return found


def compare(document: Path, folder: Path) -> tuple[dict[str, float], dict[str, float]]:
    copy, script = folder / f"{document.stem}.repaired.json", folder / "theirs.py"
    copy.write_text(json.dumps(repaired(document)))
    script.write_text(THEIRS)
    mine = figures(sys.executable, __file__, "--ours", str(document))
    theirs = figures(str(python_of("fastmcp")), str(script), str(copy))
    print(f"\n{document.name}")
    for name, one in (("ours", mine), ("fastmcp", theirs)):
        size, memory = one["bytes"] / 1e6, one["kb"] / 1024
        print(
            f"  {name:<8} {one['seconds']:8.2f} s   {size:8.2f} MB listed   {memory:7.0f} MB   {one['tools']:.0f} tools"
        )
    return mine, theirs


def main() -> int:
    given = next(iter(sys.argv[1:]), os.environ.get("UI_MCP_OPENAPI_DIR"))
    good = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = sorted(Path(given).iterdir()) if given else []
        documents = [path for path in files if path.stem.startswith(("slack", "stripe"))]
        for document in documents or [generated(folder)]:
            mine, theirs = compare(document, folder)
            good.append(claim(f"{document.stem}: time / FastMCP", mine["seconds"] / theirs["seconds"], at_most=0.2))
            if document.stem.startswith("stripe"):
                good.append(claim("Stripe: bytes listed / FastMCP", mine["bytes"] / theirs["bytes"], at_most=0.1))
                good.append(claim("Stripe: memory / FastMCP", mine["kb"] / theirs["kb"], at_most=0.12))
    return 0 if all(good) else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--ours"]:
        ours(sys.argv[2])
    else:
        sys.exit(main())
