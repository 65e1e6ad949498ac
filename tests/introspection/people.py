"""A person at the mouse and keyboard of a display."""

import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from introspection.demos import PATIENCE, Demo, window_manager
from ui_mcp.introspection.backends.javafx import JavaFxBackend
from ui_mcp.introspection.contract import CaptureRequest, Ref

PERSON = Path(__file__).with_name("Person.java")
NOTICE = 0.5
"""Seconds a person needs to see what their last act has changed."""


@dataclass(frozen=True)
class Person:
    """Uses a program as a person does: by events of the display."""

    demo: Demo
    process: Process
    said: BufferedByteReceiveStream

    async def click(self, css: str) -> None:
        await self.at("click", await self.demo.uid(css))

    async def at(self, how: str, uid: str) -> None:
        """Click the middle of a node."""
        ask = CaptureRequest(stage="all", depth=0, sections=frozenset({"localToScreen"}), root=Ref(uid))
        x, y, width, height = (await self.demo.target.node(Ref(uid), ask)).record["sc"]
        await self.do(f"{how} {round(x + width / 2)} {round(y + height / 2)}")

    async def type(self, text: str) -> None:
        await self.do(f"type {text}")

    async def do(self, line: str) -> None:
        assert self.process.stdin is not None
        await self.process.stdin.send(f"{line}\n".encode())
        with anyio.fail_after(PATIENCE):
            await self.said.receive_until(b"\n", 1000)
        await anyio.sleep(NOTICE)


@asynccontextmanager
async def person_at(demo: Demo, folder: Path) -> AsyncIterator[Person]:
    """Seat a person at the display that shows the demo, with a window manager as people have one."""
    assert isinstance(demo.target.backend, JavaFxBackend)
    environment = Path(f"/proc/{demo.target.backend.address.pid}/environ").read_bytes().decode().split("\0")
    screen = next(entry.partition("=")[2] for entry in environment if entry.startswith("DISPLAY="))
    compile_command = ["javac", "--release", "11", "-d", str(folder), str(PERSON)]
    await anyio.to_thread.run_sync(lambda: subprocess.run(compile_command, check=True))
    command = ["java", "-Xshare:auto", "-cp", str(folder), "Person"]
    async with (
        window_manager(screen),
        await anyio.open_process(command, env={**os.environ, "DISPLAY": screen}, stderr=None) as process,
    ):
        assert process.stdout is not None
        said = BufferedByteReceiveStream(process.stdout)
        with anyio.fail_after(PATIENCE):
            await said.receive_until(b"READY\n", 1000)
        try:
            yield Person(demo, process, said)
        finally:
            process.kill()
