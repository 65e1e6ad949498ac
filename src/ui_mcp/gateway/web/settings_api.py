"""HTTP API of the chat's settings: APIs and tools, model and proxy."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ui_mcp.errors import InvalidArgumentsError
from ui_mcp.gateway.results import StoredResult
from ui_mcp.jsontypes import JsonObject
from ui_mcp.webserver.responses import answering, body_of, text_of


class Targets(Protocol):
    async def listed(self) -> list[JsonObject]: ...
    async def add(self, body: JsonObject) -> JsonObject: ...
    async def remove(self, name: str) -> None: ...
    async def reload(self, name: str) -> JsonObject: ...
    async def probe(self, url: str) -> JsonObject: ...
    async def upload(self, name: str, data: bytes) -> JsonObject: ...
    async def import_preset(self, name: str) -> JsonObject: ...
    def report(self, name: str) -> JsonObject: ...


class Servers(Protocol):
    async def add(self, url: str, name: str) -> JsonObject: ...
    async def remove(self, name: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Listing:
    tools: Callable[[], Awaitable[list[JsonObject]]]
    presets: Sequence[JsonObject]


class NluiSources:
    def __init__(self, targets: Targets, listing: Listing, result: Callable[[str], Awaitable[StoredResult]]) -> None:
        self._targets = targets
        self._tools = listing.tools
        self._presets = listing.presets
        self._result = result

    def routes(self) -> Sequence[BaseRoute]:
        one = "/api/targets/{name}"
        return [
            Route("/api/targets", answering(self.listed), methods=["GET"]),
            Route("/api/targets", answering(self.add), methods=["POST"]),
            Route("/api/targets/probe", answering(self.probe), methods=["POST"]),
            Route(one, answering(self.remove), methods=["DELETE"]),
            Route(f"{one}/reload", answering(self.reload), methods=["POST"]),
            Route(f"{one}/report", answering(self.report), methods=["GET"]),
            Route("/api/presets", answering(self.presets), methods=["GET"]),
            Route("/api/presets/{name}/import", answering(self.import_preset), methods=["POST"]),
            Route("/api/specs/upload", answering(self.upload), methods=["POST"]),
            Route("/api/tools", answering(self.tools), methods=["GET"]),
            Route("/api/tools/sources", answering(self.listed), methods=["GET"]),
            Route("/api/results/{handle}", answering(self.result), methods=["GET"]),
            Route("/api/health", answering(self.health), methods=["GET"]),
            Route("/api/info", answering(self.info), methods=["GET"]),
        ]

    async def listed(self, request: Request) -> Response:
        """List the sources with their health and the names of their tools."""
        return JSONResponse(await self._targets.listed())

    async def add(self, request: Request) -> Response:
        return JSONResponse(await self._targets.add(await body_of(request)), 201)

    async def probe(self, request: Request) -> Response:
        return JSONResponse(await self._targets.probe(text_of(await body_of(request), "base_url", "url")))

    async def remove(self, request: Request) -> Response:
        await self._targets.remove(request.path_params["name"])
        return JSONResponse({"ok": True})

    async def reload(self, request: Request) -> Response:
        return JSONResponse(await self._targets.reload(request.path_params["name"]))

    async def report(self, request: Request) -> Response:
        """Return how well each operation of an API's document was understood."""
        return JSONResponse(self._targets.report(request.path_params["name"]))

    async def presets(self, request: Request) -> Response:
        return JSONResponse(list(self._presets))

    async def import_preset(self, request: Request) -> Response:
        return JSONResponse(await self._targets.import_preset(request.path_params["name"]), 201)

    async def upload(self, request: Request) -> Response:
        """Add an API from an uploaded document; the uploaded file name is never used as a path."""
        try:
            async with request.form(max_files=1, max_fields=4) as form:
                spec = form.get("spec")
                if not isinstance(spec, UploadFile):
                    raise InvalidArgumentsError("Send the document as the field spec")
                name = form.get("name")
                data = await spec.read()
        except HTTPException as error:
            raise InvalidArgumentsError(f"Send multipart/form-data: {error.detail}") from error
        return JSONResponse(await self._targets.upload(name if isinstance(name, str) else "", data), 201)

    async def tools(self, request: Request) -> Response:
        return JSONResponse(await self._tools())

    async def result(self, request: Request) -> Response:
        """Return a stored result in full."""
        kept = await self._result(request.path_params["handle"])
        # The result is untrusted: the sandbox keeps a browser from running anything in it.
        headers = {"Content-Security-Policy": "sandbox; default-src 'none'", "Cache-Control": "no-store"}
        return Response(kept.data, headers=headers, media_type=kept.media_type)

    async def health(self, request: Request) -> Response:
        sources = await self._targets.listed()
        summaries = [{**source, "tools": len(source["tools"])} for source in sources]
        return JSONResponse({"status": "ok", "tools": len(await self._tools()), "sources": summaries})

    async def info(self, request: Request) -> Response:
        return JSONResponse({"language": "en", "tools": len(await self._tools())})


class NluiServers:
    def __init__(self, servers: Servers) -> None:
        self._servers = servers

    def routes(self) -> Sequence[BaseRoute]:
        return [
            Route("/api/servers", answering(self.add), methods=["POST"]),
            Route("/api/servers/{name}", answering(self.remove), methods=["DELETE"]),
        ]

    async def add(self, request: Request) -> Response:
        body = await body_of(request)
        name = text_of(body, "name") if body.get("name") else ""
        return JSONResponse(await self._servers.add(text_of(body, "url").strip(), name), 201)

    async def remove(self, request: Request) -> Response:
        await self._servers.remove(request.path_params["name"])
        return JSONResponse({"ok": True})


class ModelApi(Protocol):
    proxy: str | None

    def shown(self) -> JsonObject: ...
    async def change(self, body: JsonObject) -> JsonObject: ...
    async def use_proxy(self, proxy: str | None) -> None: ...
    async def test(self, body: JsonObject) -> JsonObject: ...
    async def models(self, body: JsonObject) -> list[str]: ...


class NluiConfig:
    """Keys are only ever returned masked."""

    def __init__(self, model: ModelApi, providers: Callable[[], Awaitable[list[JsonObject]]]) -> None:
        self._model = model
        self._providers = providers

    def routes(self) -> Sequence[BaseRoute]:
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
        return JSONResponse(self._model.shown())

    async def change(self, request: Request) -> Response:
        return JSONResponse(await self._model.change(await body_of(request)))

    async def providers(self, request: Request) -> Response:
        return JSONResponse(await self._providers())

    async def models(self, request: Request) -> Response:
        return JSONResponse({"models": await self._model.models(await body_of(request))})

    async def test(self, request: Request) -> Response:
        return JSONResponse(await self._model.test(await body_of(request)))

    async def stream(self, request: Request) -> Response:
        """Choose whether answers are shown while they are generated, or only when complete."""
        wanted = (await body_of(request)).get("stream")
        if not isinstance(wanted, bool):
            raise InvalidArgumentsError("stream must be true or false")
        return JSONResponse({"stream": (await self._model.change({"stream": wanted}))["stream"]})

    async def language(self, request: Request) -> Response:
        """Accept only "en"."""
        if (await body_of(request)).get("language") != "en":
            raise InvalidArgumentsError("Only English (en) is available")
        return JSONResponse({"language": "en"})

    async def proxy(self, request: Request) -> Response:
        return JSONResponse({"proxy": self._model.proxy or ""})

    async def use_proxy(self, request: Request) -> Response:
        given = (await body_of(request)).get("proxy") or None
        if given is not None and not str(given).startswith(("http://", "https://", "socks5://")):
            raise InvalidArgumentsError("proxy must begin with http://, https:// or socks5://")
        await self._model.use_proxy(str(given) if given else None)
        return JSONResponse({"proxy": self._model.proxy or ""})
