"""A server that says exactly what a test tells it to: serves the built page and plays frames over its socket."""

import json
import queue
import socket
import threading
import time
from pathlib import Path
from typing import Any

import uvicorn
from playwright.sync_api import Page
from starlette.applications import Starlette
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

import ui_mcp

BUNDLE = Path(ui_mcp.__file__).parent / "bundle"
LIMIT = 30.0
MARK = {"type": "destroy", "data": {"varId": 0}}


class ScriptedServer:
    """Listens on a free port; `say` talks to the newest page, `hear` returns what it said."""

    def __init__(self, port: int = 0) -> None:
        self._heard: queue.Queue[Any] = queue.Queue()
        self._pages: list[WebSocket] = []
        self.paths: list[str] = []
        self.session_alive = True
        routes = [
            WebSocketRoute("/ws/{session}", self._socket),
            Route("/{path:path}", self._file),
        ]
        self._listener = socket.create_server(("127.0.0.1", port))
        self.port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        config = uvicorn.Config(Starlette(routes=routes), log_level="error", ws="websockets-sansio", lifespan="off")
        self._server = uvicorn.Server(config)
        self._server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
        self._loop: Any = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        import asyncio

        async def main() -> None:
            self._loop = asyncio.get_running_loop()
            await self._server.serve(sockets=[self._listener])

        asyncio.run(main())

    def stop(self) -> None:
        """Close every connection and the port."""
        self._server.should_exit = True
        self._server.force_exit = True
        self._thread.join(LIMIT)
        self._listener.close()

    async def _file(self, request: Any) -> Response:
        path = request.path_params["path"]
        self.paths.append(path)
        for folder in (BUNDLE / "base" / "html", BUNDLE / "web"):
            if path and (folder / path).is_file():
                return FileResponse(folder / path)
        if "." in path or not self.session_alive:
            return Response("Not found", 404)
        page = (BUNDLE / "base" / "html" / "index.html").read_text()
        return HTMLResponse(page.replace("<head>", '<head><link rel="icon" href="data:,">'))

    async def _socket(self, page: WebSocket) -> None:
        await page.accept()
        self._pages.append(page)
        address = page.query_params.get("watch")
        if address is not None:
            watch = {"varId": 1, "expand": True, "address": address}
            self._heard.put({"userEvent": False, "messages": [{"type": "watch", "data": watch}]})
        try:
            while True:
                self._heard.put(json.loads(await page.receive_text()))
        except WebSocketDisconnect:
            pass
        finally:
            self._pages.remove(page)

    @property
    def pages(self) -> int:
        """How many sockets are open."""
        return len(self._pages)

    def hear(self) -> Any:
        """Return the next frame of any page; one that is a single short update comes in its long form."""
        frame = self.hear_frame()
        return {"userEvent": True, "messages": [frame]} if isinstance(frame, list) else frame

    def hear_frame(self) -> Any:
        """Return the next frame of any page as it was sent."""
        return self._heard.get(timeout=LIMIT)

    def silent(self, page: Page) -> bool:
        """Say whether the page has nothing to say: what a script says now is the next to arrive."""
        page.evaluate("uiStore.destroy(0)")
        return bool(self.hear_frame() == {"userEvent": False, "messages": [MARK]})

    def say(self, *messages: Any) -> None:
        """Send one frame to the newest page."""
        frame = json.dumps(messages[0] if len(messages) == 1 else list(messages))
        self.say_text(frame)

    def say_text(self, frame: str) -> None:
        """Send a frame as it is."""
        import asyncio

        asyncio.run_coroutine_threadsafe(self._pages[-1].send_text(frame), self._loop).result(LIMIT)

    def drop(self) -> None:
        """Close the newest page's socket as a crash would."""
        import asyncio

        asyncio.run_coroutine_threadsafe(self._pages[-1].close(1011), self._loop).result(LIMIT)

    def wait_until(self, condition: Any) -> None:
        """Wait for something that happens on the server's side."""
        end = time.monotonic() + LIMIT
        while not condition():
            assert time.monotonic() < end, "waited too long"
            time.sleep(0.01)


def viewdefs(**templates: str) -> dict[str, Any]:
    """Deliver viewdefs; `A__DEFAULT="…"` stands for key `A.DEFAULT`."""
    text = json.dumps({key.replace("__", "."): f"<template>{html}</template>" for key, html in templates.items()})
    return {"type": "update", "data": {"varId": 1, "properties": {"viewdefs": text}}}


def root(key: str, values: list[Any], view: int = 2) -> dict[str, Any]:
    """Put a view into the page."""
    return place(0, 0, key, values, view)


def place(parent: int, slot: int, key: str, values: list[Any], view: int, index: int | None = None) -> dict[str, Any]:
    """Put a view into a position of another."""
    data: dict[str, Any] = {"view": view, "parent": parent, "slot": slot, "key": key, "values": values}
    if index is not None:
        data["index"] = index
    return {"type": "view", "data": data}


def failure(view: int, pos: int, code: str, description: str) -> dict[str, Any]:
    """An error of one binding."""
    return {"type": "error", "data": {"view": view, "pos": pos, "code": code, "description": description}}


def notice(level: str, text: str, code: str) -> dict[str, Any]:
    """Something to tell the person."""
    body = json.dumps({"level": level, "text": text, "code": code})
    return {"type": "update", "data": {"varId": 1, "properties": {"notice": body}}}
