"""NLUI's API over the model: what answers, what else could, and whether it would."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ui_mcp.errors import InvalidArgumentsError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.webserver.responses import answering, body_of


class ModelDesk(Protocol):
    """The model behind the API."""

    proxy: str | None

    def shown(self) -> JsonObject: ...
    def change(self, body: JsonObject) -> JsonObject: ...
    def use_proxy(self, proxy: str | None) -> None: ...
    async def test(self, body: JsonObject) -> JsonObject: ...
    async def models(self, body: JsonObject) -> list[str]: ...


class NluiConfig:
    """Answers what is asked about the model; keys are only ever shown masked."""

    def __init__(self, model: ModelDesk, providers: Callable[[], Awaitable[list[JsonObject]]]) -> None:
        self._model = model
        self._providers = providers

    def routes(self) -> Sequence[BaseRoute]:
        """Return the endpoints."""
        return [
            Route("/api/config/llm", answering(self.shown), methods=["GET"]),
            Route("/api/config/llm", answering(self.change), methods=["PUT"]),
            Route("/api/config/llm/providers", answering(self.providers), methods=["GET"]),
            Route("/api/config/llm/models", answering(self.models), methods=["POST"]),
            Route("/api/config/llm/test", answering(self.test), methods=["POST"]),
            Route("/api/config/stream", answering(self.stream), methods=["PUT"]),
            Route("/api/config/language", answering(self.language), methods=["PUT"]),
            Route("/api/config/proxy", answering(self.proxy), methods=["GET"]),
            Route("/api/config/proxy", answering(self.use_proxy), methods=["PUT"]),
            Route("/api/config/proxy/test", answering(self.test), methods=["POST"]),
        ]

    async def shown(self, request: Request) -> Response:
        """Tell which model answers."""
        return JSONResponse(self._model.shown())

    async def change(self, request: Request) -> Response:
        """Let another model answer."""
        return JSONResponse(self._model.change(await body_of(request)))

    async def providers(self, request: Request) -> Response:
        """List the vendors, and which local ones run."""
        return JSONResponse(await self._providers())

    async def models(self, request: Request) -> Response:
        """List the models of a server."""
        return JSONResponse({"models": await self._model.models(await body_of(request))})

    async def test(self, request: Request) -> Response:
        """Try a model."""
        return JSONResponse(await self._model.test(await body_of(request)))

    async def stream(self, request: Request) -> Response:
        """Show answers while they are written, or only when they are whole."""
        wanted = (await body_of(request)).get("stream")
        if not isinstance(wanted, bool):
            raise InvalidArgumentsError("stream must be true or false")
        return JSONResponse({"stream": self._model.change({"stream": wanted})["stream"]})

    async def language(self, request: Request) -> Response:
        """Take the wish for a language; there is one."""
        if (await body_of(request)).get("language") != "en":
            raise InvalidArgumentsError("English is the only language there is: en")
        return JSONResponse({"language": "en"})

    async def proxy(self, request: Request) -> Response:
        """Tell through which proxy models are reached."""
        return JSONResponse({"proxy": self._model.proxy or ""})

    async def use_proxy(self, request: Request) -> Response:
        """Reach models through a proxy, or directly."""
        given = (await body_of(request)).get("proxy") or None
        if given is not None and not str(given).startswith(("http://", "https://", "socks5://")):
            raise InvalidArgumentsError("proxy must begin with http://, https:// or socks5://")
        self._model.use_proxy(str(given) if given else None)
        return JSONResponse({"proxy": self._model.proxy or ""})
