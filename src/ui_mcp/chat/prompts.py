"""The person's prompt library: named texts in a file, listed and changed over HTTP."""

from collections.abc import Sequence
from pathlib import Path

import anyio
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ui_mcp.errors import InvalidArgumentsError, NotFoundError
from ui_mcp.files import write_atomic
from ui_mcp.jsontypes import dumps, loads
from ui_mcp.webserver.responses import answering, body_of, text_of

MAX_PROMPTS = 500
MAX_TEXT = 50_000
NAME_CHARS = 60


class PromptLibrary:
    """Texts by name, kept in one file; what cannot be read of it is left out."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._writing = anyio.Lock()

    async def prompts(self) -> dict[str, str]:
        return await to_thread.run_sync(self._read)

    async def put(self, name: str, text: str) -> None:
        """Store a prompt under a name, which replaces the one that had it.

        Raises:
            InvalidArgumentsError: the library is full.
        """
        async with self._writing:
            known = await self.prompts()
            if name not in known and len(known) >= MAX_PROMPTS:
                raise InvalidArgumentsError(f"The library has {MAX_PROMPTS} prompts already\nDelete one first.")
            await to_thread.run_sync(self._write, {**known, name: text})

    async def remove(self, name: str) -> None:
        """Delete a prompt.

        Raises:
            NotFoundError: there is none with this name.
        """
        async with self._writing:
            known = await self.prompts()
            if name not in known:
                raise NotFoundError(f"There is no prompt {name!r}")
            await to_thread.run_sync(self._write, {key: text for key, text in known.items() if key != name})

    def _read(self) -> dict[str, str]:
        try:
            found = loads(self._file.read_bytes())
        except (OSError, ValueError):
            return {}
        entries = found.items() if isinstance(found, dict) else ()
        return {name: text for name, text in entries if isinstance(text, str)}

    def _write(self, prompts: dict[str, str]) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(self._file, dumps(prompts).encode(), mode=0o600)


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
