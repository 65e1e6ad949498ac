"""Finds model servers on this computer: Ollama, LM Studio, llama.cpp, at the ports that they use by default."""

from dataclasses import dataclass
from urllib.parse import urlsplit

import anyio
import httpx2

from ui_mcp.agent.models import Service, providers
from ui_mcp.http_client import open_client
from ui_mcp.jsontypes import Json, loads

SECONDS = 0.5
"""How long a server may take to say which models it has."""
MAX_BYTES = 4 * 1024 * 1024
MOST_MODELS = 200
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A model server that answered."""

    provider: str
    service: Service
    models: tuple[str, ...]


def local_services() -> list[tuple[str, Service]]:
    """Return the services at loopback, each with the name of its provider."""
    every = [(name, service) for name, provider in providers().items() for service in provider.services]
    return [(name, service) for name, service in every if urlsplit(service.api_base).hostname == LOOPBACK]


async def local_servers() -> list[LocalServer]:
    """Return the servers that answer with a list of models; whatever else listens at a port is left out."""
    found: dict[int, LocalServer] = {}
    async with (
        open_client(limit=MAX_BYTES, trust_env=False, timeout=SECONDS) as client,
        anyio.create_task_group() as tasks,
    ):

        async def ask(number: int, provider: str, service: Service) -> None:
            models = await _models(client, service.api_base)
            if models is not None:
                found[number] = LocalServer(provider, service, models)

        for number, (provider, service) in enumerate(local_services()):
            tasks.start_soon(ask, number, provider, service)
    return [found[number] for number in sorted(found)]


async def _models(client: httpx2.AsyncClient, base: str) -> tuple[str, ...] | None:
    with anyio.move_on_after(SECONDS):
        try:
            answer = await client.get(f"{base}/models")
            return names_of(loads(answer.content)) if answer.status_code == 200 else None
        except (httpx2.HTTPError, ValueError):
            return None
    return None


def names_of(answer: Json) -> tuple[str, ...] | None:
    """Return the names in a list of models, whose form differs between vendors; None if it is no such list."""
    given = answer.get("data", answer.get("models")) if isinstance(answer, dict) else None
    if not isinstance(given, list):
        return None
    named = [one.get("id") or one.get("name") for one in given if isinstance(one, dict)]
    names = sorted(name.removeprefix("models/") for name in named if isinstance(name, str) and name)
    return tuple(names[:MOST_MODELS])
