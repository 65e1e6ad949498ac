"""NLUI's API over sources of tools: APIs, presets, uploads, lists of tools, health."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ui_mcp.compositor.results import Kept
from ui_mcp.errors import InvalidArgumentsError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.webserver.responses import answering, body_of, text_of


class Targets(Protocol):
    """The APIs behind the API."""

    async def listed(self) -> list[JsonObject]: ...
    async def add(self, body: JsonObject) -> JsonObject: ...
    async def remove(self, name: str) -> None: ...
    async def reload(self, name: str) -> JsonObject: ...
    async def probe(self, url: str) -> JsonObject: ...
    async def upload(self, name: str, data: bytes) -> JsonObject: ...
    async def import_preset(self, name: str) -> JsonObject: ...
    def report(self, name: str) -> JsonObject: ...


@dataclass(frozen=True, slots=True)
class Listing:
    """What is only listed."""

    tools: Callable[[], Awaitable[list[JsonObject]]]
    presets: Sequence[JsonObject]


class NluiSources:
    """Answers what is asked about tools and where they come from."""

    def __init__(self, targets: Targets, listing: Listing, result: Callable[[str], Awaitable[Kept]]) -> None:
        self._targets = targets
        self._tools = listing.tools
        self._presets = listing.presets
        self._result = result

    def routes(self) -> Sequence[BaseRoute]:
        """Return the endpoints."""
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
        """List the sources of tools with their health."""
        return JSONResponse(await self._targets.listed())

    async def add(self, request: Request) -> Response:
        """Add an API."""
        return JSONResponse(await self._targets.add(await body_of(request)), 201)

    async def probe(self, request: Request) -> Response:
        """Look for the document of an address."""
        return JSONResponse(await self._targets.probe(text_of(await body_of(request), "base_url", "url")))

    async def remove(self, request: Request) -> Response:
        """Remove an API."""
        await self._targets.remove(request.path_params["name"])
        return JSONResponse({"ok": True})

    async def reload(self, request: Request) -> Response:
        """Read the document of an API again."""
        return JSONResponse(await self._targets.reload(request.path_params["name"]))

    async def report(self, request: Request) -> Response:
        """Say how well the document of an API was understood."""
        return JSONResponse(self._targets.report(request.path_params["name"]))

    async def presets(self, request: Request) -> Response:
        """List ready-made APIs."""
        return JSONResponse(list(self._presets))

    async def import_preset(self, request: Request) -> Response:
        """Add a ready-made API."""
        return JSONResponse(await self._targets.import_preset(request.path_params["name"]), 201)

    async def upload(self, request: Request) -> Response:
        """Add an API by its document; the name of the sender's file is never used as a path."""
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
        """List all tools."""
        return JSONResponse(await self._tools())

    async def result(self, request: Request) -> Response:
        """Return the whole of an answer that was too long for the model; nothing in it is run."""
        kept = await self._result(request.path_params["handle"])
        headers = {"Content-Security-Policy": "sandbox; default-src 'none'", "Cache-Control": "no-store"}
        return Response(kept.data, headers=headers, media_type=kept.media_type)

    async def health(self, request: Request) -> Response:
        """Say how everything is."""
        sources = await self._targets.listed()
        told = [{**source, "tools": len(source["tools"])} for source in sources]
        return JSONResponse({"status": "ok", "tools": len(await self._tools()), "sources": told})

    async def info(self, request: Request) -> Response:
        """Say what this is."""
        return JSONResponse({"language": "en", "tools": len(await self._tools())})
