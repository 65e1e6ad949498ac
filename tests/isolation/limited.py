"""Fetches from a hostile address with little memory, and says what became of each attempt."""

import resource
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from ui_mcp.agent.model import ModelRequest, UserMessage
from ui_mcp.agent.models import ModelSettings, choose_model
from ui_mcp.errors import UiMcpError
from ui_mcp.gateway.config.settings import TargetSettings
from ui_mcp.gateway.openapi.live import DocumentCache, LiveTarget
from ui_mcp.gateway.results import ResultStore
from ui_mcp.gateway.sanitize import SecretMasker
from ui_mcp.gateway.web.model_settings import ModelSettingsService
from ui_mcp.toolkit.tool import Call
from ui_mcp.validation import read

ROOM = 640 * 1024 * 1024
"""Enough to hold the largest answer twice; a bomb is larger."""


def target(folder: Path, **settings: str) -> LiveTarget:
    given = read(TargetSettings, {"name": "api", **settings})
    return LiveTarget(given, cache=DocumentCache(folder), store=ResultStore(folder), masker=SecretMasker())


async def reads(folder: Path, **settings: str) -> str:
    async with target(folder, **settings) as api:
        await api.refresh()
        return api.source.error


async def calls(folder: Path, url: str) -> str:
    spec = folder / "spec.yaml"
    spec.write_text(
        'openapi: 3.0.0\ninfo: {title: b, version: "1"}\npaths: {/bomb: {get: {operationId: a, responses: {}}}}'
    )
    async with target(folder, spec=str(spec), base_url=url) as api:
        await api.refresh()
        await api.source.call("api__a", {}, Call())
        return ""


async def asks(url: str) -> str:
    settings = ModelSettings(provider="openai", api_base=f"{url}/stream", model="m", api_key="k")
    answer: AsyncIterator[object] = choose_model(settings, attempts=1).stream(ModelRequest([UserMessage("?")]))
    return str([event async for event in answer])


async def lists(folder: Path, url: str) -> str:
    settings = ModelSettings(provider="openai", api_base=url, model="m", api_key="k")
    return str(await ModelSettingsService(settings, None, None, folder).models({}))


async def main(url: str) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        attempts: dict[str, Callable[[], Awaitable[str]]] = {
            "document": lambda: reads(folder, spec=f"{url}/bomb"),
            "search for a document": lambda: reads(folder, base_url=url),
            "call": lambda: calls(folder, url),
            "model": lambda: asks(url),
            "list of models": lambda: lists(folder, url),
        }
        for what, attempt in attempts.items():
            try:
                told = await attempt()
            except UiMcpError as error:
                told = error.message
            print(f"{what}: {told.splitlines()[0] if told else 'nothing'}", flush=True)


if __name__ == "__main__":
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, used + ROOM))
    anyio.run(main, sys.argv[1])
