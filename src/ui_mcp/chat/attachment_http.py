"""HTTP API of attached files: the person uploads them, pages download them as data, never as a page."""

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ui_mcp.chat.attachments import MAX_BYTES, MAX_FILES, Attachment, AttachmentStore, safe_name, with_references
from ui_mcp.errors import InvalidArgumentsError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.webserver.responses import answering, text_of

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
