"""Model servers on this computer are found at their ports, and nothing else is taken for one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from ui_mcp.agent.models import Service, local
from ui_mcp.agent.models.local import local_servers, local_services, names_of
from ui_mcp.gateway.web.model_settings import shown_services
from ui_mcp.webserver.server import bind, listening, port_of


@asynccontextmanager
async def serving(answer: Response) -> AsyncIterator[str]:
    async def models(request: Request) -> Response:
        return answer

    socket = bind("127.0.0.1", 0)
    async with listening(Starlette(routes=[Route("/v1/models", models)]), socket):
        yield f"http://127.0.0.1:{port_of(socket)}/v1"


@pytest.mark.covers("R-MP-15")
async def test_a_server_that_lists_models_is_found_and_a_web_page_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    ollama = JSONResponse({"object": "list", "data": [{"id": "llama3.2:3b"}, {"id": "gemma3"}]})
    async with serving(ollama) as found, serving(PlainTextResponse("<html>")) as page:
        offered = [("openai", Service("Ollama", found)), ("openai", Service("llama.cpp", page))]
        monkeypatch.setattr(local, "local_services", lambda: offered)
        monkeypatch.setattr(local, "SECONDS", 60)

        servers = await local_servers()

    assert [(one.service.name, one.models) for one in servers] == [("Ollama", ("gemma3", "llama3.2:3b"))]


@pytest.mark.covers("R-MP-15")
async def test_the_usual_ports_are_asked_at_loopback_only() -> None:
    known = {service.name: service.api_base for _, service in local_services()}

    assert known == {
        "Ollama": "http://127.0.0.1:11434/v1",
        "LM Studio": "http://127.0.0.1:1234/v1",
        "llama.cpp": "http://127.0.0.1:8080/v1",
    }
    running = {one["name"]: one.get("running") for one in await shown_services()}
    assert {name: running[name] is not None for name in known} == dict.fromkeys(known, True)
    assert running["Anthropic"] is None


@pytest.mark.covers("R-MP-15")
@pytest.mark.parametrize("answer", [None, [], {}, {"data": {}}, {"models": "x"}, "text"])
def test_what_is_no_list_of_models_has_no_names(answer: object) -> None:
    assert names_of(answer) is None
