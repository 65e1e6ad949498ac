"""Finds model servers on this computer: Ollama, LM Studio, llama.cpp, at the ports that they use by default."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from ui_mcp.agent.models import Service, providers
from ui_mcp.agent.models.http import read_all
from ui_mcp.jsontypes import Json

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
    offered = local_services()
    answers = await read_all([f"{service.api_base}/models" for _, service in offered], SECONDS, MAX_BYTES)
    known = zip(offered, map(names_of, answers), strict=True)
    return [LocalServer(provider, service, models) for (provider, service), models in known if models is not None]


def names_of(answer: Json) -> tuple[str, ...] | None:
    """Return the names in a list of models, whose form differs between vendors; None if it is no such list."""
    given = answer.get("data", answer.get("models")) if isinstance(answer, dict) else None
    if not isinstance(given, list):
        return None
    named = [one.get("id") or one.get("name") for one in given if isinstance(one, dict)]
    names = sorted(name.removeprefix("models/") for name in named if isinstance(name, str) and name)
    return tuple(names[:MOST_MODELS])
