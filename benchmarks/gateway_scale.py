"""Claim: a gateway with 100 APIs and 20,000 operations needs at most 400 MB; start, list, search, reload are measured.

The documents are generated: 200 operations each, with shared schemas. Times are of this process, memory is its growth.
Clients of `nlui --mcp` with one configuration share one such process.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import anyio
from claims import claim

from ui_mcp.gateway.config.settings import GatewaySettings
from ui_mcp.gateway.runner import connector
from ui_mcp.gateway.service import GatewayContext, GatewayService
from ui_mcp.gateway.toolset import GatewayToolset
from ui_mcp.jsontypes import JsonObject
from ui_mcp.mcp_server.tools import listed_tool
from ui_mcp.toolkit.tool import Call
from ui_mcp.validation import read

APIS, OPERATIONS = 100, 200
NOUNS = ("order", "invoice", "customer", "parcel", "branch", "ticket", "user", "report", "device", "price")
VERBS = ("get", "post", "put", "delete")
QUERIES = (
    "create an invoice",
    "which parcels are late",
    "remove a device",
    "list the users of a branch",
    "price report",
)


def document(number: int) -> JsonObject:
    schema = {"type": "object", "properties": {f"field{i}": {"type": "string"} for i in range(12)}}
    paths: dict[str, Any] = {}
    for at in range(OPERATIONS // len(VERBS)):
        noun = NOUNS[(number + at) % len(NOUNS)]
        paths[f"/{noun}s{at}/{{id}}"] = {
            verb: {
                "operationId": f"{verb}_{noun}_{at}",
                "summary": f"{verb.title()} the {noun} of area {at}",
                "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}],
                **(
                    {"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/T"}}}}}
                    if verb in {"post", "put"}
                    else {}
                ),
                "responses": {},
            }
            for verb in VERBS
        }
    return {
        "openapi": "3.0.3",
        "info": {"title": f"Service {number}", "version": "1"},
        "servers": [{"url": "http://127.0.0.1:9"}],
        "paths": paths,
        "components": {"schemas": {"T": schema}},
    }


def resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


async def timed(work: Callable[[], Coroutine[Any, Any, Any]]) -> tuple[float, Any]:
    began = time.perf_counter()
    found = await work()
    return time.perf_counter() - began, found


async def measured(folder: Path) -> bool:
    for number in range(APIS):
        (folder / f"api{number}.json").write_text(json.dumps(document(number)))
    targets = [{"name": f"api{number}", "spec": str(folder / f"api{number}.json")} for number in range(APIS)]
    settings = read(GatewaySettings, {"targets": targets, "mcp": {"startup_wait_ms": 600_000}})
    before, began = resident_mb(), time.perf_counter()
    context = GatewayContext(folder / "data", folder / "cache", connector(), mode="host")
    async with GatewayService(settings, context).running() as gateway:
        await gateway.sources.ready()
        start = time.perf_counter() - began
        memory = resident_mb() - before
        count = len(gateway.catalog.entries())
        short, _ = await timed(lambda: GatewayToolset(gateway).tools(Call()))
        whole, listed = await timed(lambda: _listed(gateway))
        first, _ = await timed(lambda: gateway.search(QUERIES[0], "local"))
        later = [(await timed(partial(gateway.search, query, "local")))[0] for query in QUERIES * 4]
        changed = folder / "api7.json"
        changed.write_text(changed.read_text().replace("get_order", "read_order"))
        reload, _ = await timed(gateway.sources.refresh_targets)
        total = resident_mb() - before
    print(f"{APIS} APIs, {count} tools; a whole list has {listed / 1e6:.1f} MB")
    return all(
        [
            claim("start, s", start),
            claim("memory after start, MB", memory, at_most=400),
            claim("memory with search index, MB", total, at_most=600),
            claim("short list, ms", short * 1e3),
            claim("whole list, ms", whole * 1e3),
            claim("first search with its index, s", first),
            claim("search, median, ms", median(later) * 1e3),
            claim("reading all documents again, s", reload),
        ]
    )


async def _listed(gateway: GatewayService) -> int:
    tools = await GatewayToolset(gateway, mode="full").tools(Call())
    return sum(len(json.dumps(listed_tool(tool))) for tool in tools)


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        return 0 if anyio.run(measured, Path(name)) else 1


if __name__ == "__main__":
    sys.exit(main())
