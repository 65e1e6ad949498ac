"""HTTP API of the composer: attached files, downloaded as data and never as a page, and the prompt library."""

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ui_mcp.chat.attachments import MAX_BYTES, MAX_FILES, Attachment, AttachmentStore, safe_name, with_references
from ui_mcp.chat.prompts import PromptLibrary
from ui_mcp.errors import InvalidArgumentsError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.webserver.responses import answering, body_of, text_of

MAX_TEXT = 50_000
"""Characters of a prompt."""
NAME_CHARS = 60
_SANDBOX = "default-src 'none'; sandbox"


class AttachmentApi:
    """Uploads and downloads of files, and messages that refer to them."""

    def __init__(self, store: AttachmentStore) -> None:
        self._store = store

    def routes(self, path: str) -> Sequence[Route]:
        return [Route(path, answering(self.upload), methods=["POST"]), *self.reading_routes(path)]

    def reading_routes(self, path: str) -> Sequence[Route]:
        return [Route(f"{path}/{{digest}}", answering(self.download), methods=["GET"])]

    async def upload(self, request: Request) -> Response:
        """Store the body of a request; `name` is the file's name."""
        data = bytearray()
        async for part in request.stream():
            data += part
            if len(data) > MAX_BYTES:
                break  # refused below, without reading the rest
        stored = await self._store.put(bytes(data))
        name = safe_name(request.query_params.get("name", ""))
        return JSONResponse({"id": stored.digest, "name": name, "mime": stored.mime, "size": len(data)}, 201)

    async def download(self, request: Request) -> Response:
        """Return a file with the type of its content; a browser saves it and shows none of it as a page."""
        stored = await self._store.get(request.path_params["digest"])
        headers = {"content-disposition": "attachment", "content-security-policy": _SANDBOX}
        return Response(stored.data, media_type=stored.mime, headers=headers)

    async def message(self, body: JsonObject, *names: str) -> str:
        """Return the text of a message, with references to its `attachments`.

        Raises:
            InvalidArgumentsError: there is neither a text nor a file, or a file is named in another way.
            NotFoundError: a file has not been uploaded.
        """
        given = body.get("attachments") or []
        if not isinstance(given, list) or len(given) > MAX_FILES or not all(isinstance(one, dict) for one in given):
            raise InvalidArgumentsError(f"attachments must be a list of up to {MAX_FILES} objects with id and name")
        attached = [Attachment(safe_name(str(one.get("name", ""))), str(one.get("id"))) for one in given]
        for one in attached:
            await self._store.keep(one.digest)
        text = text_of(body, *names) if not attached or body.get(names[0]) else ""
        return with_references(text, attached)


class PromptApi:
    """HTTP API of the library; who may use it is decided in front of its routes."""

    def __init__(self, library: PromptLibrary) -> None:
        self._library = library

    def routes(self, path: str) -> Sequence[Route]:
        return [
            Route(path, answering(self.list), methods=["GET"]),
            Route(f"{path}/{{name}}", answering(self.put), methods=["PUT"]),
            Route(f"{path}/{{name}}", answering(self.remove), methods=["DELETE"]),
        ]

    async def list(self, request: Request) -> Response:
        prompts = await self._library.prompts()
        return JSONResponse([{"name": name, "text": prompts[name]} for name in sorted(prompts, key=str.casefold)])

    async def put(self, request: Request) -> Response:
        name = " ".join(request.path_params["name"].split())
        text = text_of(await body_of(request), "text")
        if not 0 < len(name) <= NAME_CHARS or len(text) > MAX_TEXT:
            raise InvalidArgumentsError(f"A name has 1 to {NAME_CHARS} characters, a prompt at most {MAX_TEXT:,}")
        await self._library.put(name, text)
        return JSONResponse({"name": name, "text": text})

    async def remove(self, request: Request) -> Response:
        await self._library.remove(request.path_params["name"])
        return JSONResponse({"ok": True})
