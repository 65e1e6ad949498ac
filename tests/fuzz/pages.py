"""Borders: frames of pages, into a session with a Lua process, and over the sockets of a real server."""

import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
from anyio.abc import Process
from hypothesis import strategies as st
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Origin

from fuzz.border import Border
from fuzz.values import any_json, damage, damaged, mutated, text_of
from ui.sessions.test_session_fuzz import frames as session_frames
from ui_mcp.testing import project
from ui_mcp.ui.sessions.session import Session

EXAMPLES = Path(__file__).parents[2] / "examples"
WATCH = {"type": "watch", "data": {"varId": 1, "expand": True}}
FRAMES: list[Any] = [
    {"userEvent": True, "messages": [WATCH, {"type": "update", "data": {"varId": 1, "value": 5}}]},
    {"type": "create", "data": {"id": 2, "parentId": 1, "properties": {"path": "value.search?wrapper=lua.ViewList"}}},
    {"type": "update", "data": {"varId": 1, "properties": {"editable": "Contacts.DEFAULT 0,1,99"}}},
    {"type": "looked", "data": {"id": 1, "answer": "{}"}},
    {"type": "destroy", "data": {"varId": 2}},
    [1, 0, "text"],
    [1, 2],
]


class PageBeside:
    """A hostile page in one session; another session must go on answering."""

    def __init__(self, session: Session, neighbour: Session) -> None:
        self._session, self._neighbour = session, neighbour

    async def take(self, case: list[str]) -> None:
        async with self._session.attach() as page:
            for frame in case:
                await page.receive(frame)
            assert await self._session.run_lua("return 1") == "1"
            page.outbox.take_now()
            assert page.closed is None

    async def neighbour_answers(self) -> None:
        assert await self._neighbour.run_lua("return 6 * 7") == "42"


@asynccontextmanager
async def session_opened(folder: Path) -> AsyncIterator[PageBeside]:
    workspace = project.make_workspace(folder, EXAMPLES / "contacts")
    config = project.settings(host="process", hotload=False)
    async with project.open_sessions(workspace, config) as sessions:
        await sessions.get("1").display("contacts")
        yield PageBeside(sessions.get("1"), await sessions.create())


class SocketBeside:
    """A hostile socket to a real server; a good one beside it must be answered, and the process must live."""

    def __init__(self, process: Process, url: str, cookie: str) -> None:
        self._process, self._url, self._cookie = process, url, cookie
        self._bad: ClientConnection | None = None
        self._good: ClientConnection | None = None

    async def take(self, case: list[str | bytes]) -> None:
        try:
            if self._bad is None:
                self._bad = await self._dialled()
            for frame in case:
                await self._bad.send(frame)
        except ConnectionClosed:
            self._bad = None

    async def neighbour_answers(self) -> None:
        if self._good is None:
            self._good = await self._dialled()
        await self._good.send(text_of(WATCH))
        await self._good.recv()
        assert self._process.returncode is None

    async def _dialled(self) -> ClientConnection:
        address, headers = f"{self._url.replace('http', 'ws', 1)}/ws/1", {"Cookie": self._cookie}
        return await connect(address, origin=Origin(self._url), additional_headers=headers, max_size=None)

    async def close(self) -> None:
        """Leave politely."""
        for socket in (self._bad, self._good):
            if socket is not None:
                await socket.close()


@asynccontextmanager
async def served_opened(folder: Path) -> AsyncIterator[SocketBeside]:
    command = [sys.executable, "-m", "ui_mcp", "serve", "--port", "0", "--mcp-port", "0"]
    async with await anyio.open_process(command, cwd=folder, stderr=None) as process:
        try:
            url = await _url_of(process)
            found = SocketBeside(process, url, await _cookie(url))
            yield found
            await found.close()
        finally:
            os.kill(process.pid, signal.SIGTERM)
            with anyio.CancelScope(shield=True):
                await process.wait()


async def _url_of(process: Process) -> str:
    assert process.stdout is not None
    text = b""
    while text.count(b"\n") < 3:
        text += await process.stdout.receive()
    return text.decode().splitlines()[1].split()[1]


async def _cookie(url: str) -> str:
    async with httpx2.AsyncClient() as client:
        cookies = (await client.get(url)).cookies
    return "; ".join(f"{name}={value}" for name, value in cookies.items())


def _text(frame: Any) -> str:
    return frame if isinstance(frame, str) else text_of(frame)


shapes = session_frames | mutated(*FRAMES) | any_json
frame_texts = (
    shapes.map(_text)
    | st.builds(
        lambda frame, changes: damaged(_text(frame).encode(), changes).decode("utf-8", "replace"), shapes, damage
    )
    | st.text(max_size=30)
)
sendable = frame_texts.map(lambda text: text.encode("utf-8", "replace").decode())

BORDERS = [
    Border("frames of a page", st.lists(frame_texts, min_size=1, max_size=3), session_opened, 150),
    Border(
        "sockets of a server", st.lists(sendable | st.binary(max_size=60), min_size=1, max_size=3), served_opened, 100
    ),
]
