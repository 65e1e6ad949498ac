"""A running JavaFX program, through the agent inside it: lines of JSON over a loopback socket."""

import base64
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio.abc import SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

from ui_mcp.errors import (
    IntrospectError,
    UiActionFailedError,
    UiArgumentError,
    UiNodeNotFoundError,
    UiNoStagesError,
    UiNotEnabledError,
    UiStaleRefError,
    UiTimeoutError,
)
from ui_mcp.introspection.backend import Attachment, ScreenshotRequest
from ui_mcp.introspection.backends.jvm_attach import jvms, load_agent, load_by_jdk
from ui_mcp.introspection.contract import CaptureRequest
from ui_mcp.jsontypes import JsonObject, dumps, loads
from ui_mcp.workspace import BUNDLE

SECONDS = 8.0
_LONGEST_LINE = 64 * 1024 * 1024
_ERRORS: dict[str, type[IntrospectError]] = {
    kind.code: kind
    for kind in (
        UiActionFailedError, UiArgumentError, UiNodeNotFoundError, UiNoStagesError, UiNotEnabledError,
        UiStaleRefError, UiTimeoutError,
    )
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Address:
    """Where an agent listens."""

    pid: int
    port: int
    token: str

    @classmethod
    def read(cls, file: Path) -> "Address":
        """Read what the agent wrote.

        Raises:
            UiNotEnabledError: the agent could not start; the reason is its own.
        """
        facts = loads(file.read_bytes())
        if "error" in facts:
            reason = str(facts["error"]).partition(":")[0]
            raise UiNotEnabledError(f"The program cannot be looked at: {facts['error']}", reason=reason)
        return cls(int(facts["pid"]), int(facts["port"]), str(facts["token"]))


class JavaFxBackend:
    """Talks to one agent."""

    kind = "javafx"

    def __init__(self, address: Address, stream: SocketStream) -> None:
        self.address = address
        self._stream = stream
        self._lines = BufferedByteReceiveStream(stream)
        self._next = 0
        self._turn = anyio.Lock()
        self._gone = False

    @classmethod
    async def attach(cls, pid: int, *, read_only: bool = False, folder: Path | None = None) -> "JavaFxBackend":
        """Load the agent into a running program, or find the one that is there, and connect.

        Raises:
            UiNotEnabledError: refused; `details["reason"]` names the cause.
        """
        address = await anyio.to_thread.run_sync(lambda: start_agent(pid, read_only=read_only, folder=folder))
        return await cls.connect(address)

    @classmethod
    async def connect(cls, address: Address) -> "JavaFxBackend":
        """Connect to an agent that runs.

        Raises:
            UiNotEnabledError: nothing listens there any more.
        """
        try:
            stream = await anyio.connect_tcp("127.0.0.1", address.port)
            await stream.send(address.token.encode() + b"\n")
        except OSError as error:
            raise UiNotEnabledError(f"Process {address.pid} does not listen any more", reason="GONE") from error
        return cls(address, stream)

    async def describe(self) -> str:
        """Name the program."""
        seen = await self._call({"op": "capture", "ask": CaptureRequest(depth=0).json()})
        return f"{seen['app']['mainClass']} (pid {self.address.pid})"

    async def capture(self, ask: CaptureRequest) -> JsonObject:
        """Read the scenes."""
        return await self._call({"op": "capture", "ask": ask.json()})

    async def act(self, action: JsonObject) -> None:
        """Do one action."""
        await self._call({"op": "act", "action": action})

    async def idle(self) -> None:
        """Wait for what we submitted and for two pulses."""
        await self._call({"op": "idle"})

    async def screenshot(self, photo: ScreenshotRequest) -> bytes:
        """Photograph a scene or a node."""
        wanted = {
            "stage": photo.stage,
            "ref": photo.ref and photo.ref.json(),
            "maxWidth": photo.max_width,
            "annotate": photo.annotate,
        }
        return base64.b64decode((await self._call({"op": "pixels", "photo": wanted}))["png"])

    async def at(self, x: float, y: float) -> list[JsonObject]:
        """Name what is at a point of the screen, topmost first."""
        return list((await self._call({"op": "at", "x": x, "y": y}))["chain"])

    async def slices(self) -> list[tuple[float, float]]:
        """Return each time the agent held the JavaFX thread since the last question: clock and work, in ms."""
        told = await self._call({"op": "work"})
        return list(zip(told["clockMs"], told["workMs"], strict=True))

    def problems(self) -> list[str]:
        """Return nothing: programs report errors in their own way."""
        return []

    def alive(self) -> bool:
        """Say whether the program was there at the last call."""
        return not self._gone

    async def close(self) -> None:
        """Hang up; the program goes on."""
        await self._stream.aclose()

    async def _call(self, request: JsonObject) -> JsonObject:
        async with self._turn:
            self._next += 1
            number = self._next
            sent = {"id": number, "timeoutMs": int(SECONDS * 1000), **request}
            try:
                await self._stream.send(dumps(sent).encode() + b"\n")
                answer = await self._answer(number)
            except (
                anyio.ClosedResourceError,
                anyio.BrokenResourceError,
                anyio.EndOfStream,
                anyio.IncompleteRead,
            ) as error:
                self._gone = True
                raise UiNotEnabledError(f"Process {self.address.pid} is gone", reason="GONE") from error
        if "error" in answer:
            told = answer["error"]
            raise _ERRORS.get(told["code"], IntrospectError)(told["message"], **told["details"])
        return dict(answer["ok"])

    async def _answer(self, number: int) -> JsonObject:
        """Read until the answer to `number`; earlier ones belong to calls that were given up."""
        while True:
            line = await self._lines.receive_until(b"\n", _LONGEST_LINE)
            answer = loads(line)
            if answer.get("id") == number:
                return dict(answer)


def start_agent(pid: int, *, read_only: bool = False, folder: Path | None = None) -> Address:
    """Load the agent into `pid` and return where it listens. Blocks.

    Raises:
        UiNotEnabledError: refused; `details["reason"]` names the cause.
    """
    private = folder or Path(tempfile.mkdtemp(prefix="ui-mcp-"))
    private.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = private / f"javafx-{pid}.json"
    file.unlink(missing_ok=True)
    load = load_agent if sys.platform == "linux" else load_by_jdk
    load(pid, agent_jar(private), f"file={file};enabled=true;readonly={str(read_only).lower()}")
    if not file.is_file():
        raise UiNotEnabledError(f"The agent in process {pid} did not say where it listens", reason="ATTACH_FAILED")
    address = Address.read(file)
    return Address(pid, address.port, address.token)


def attach_javafx(folder: Path, pid: int, *, read_only: bool = False) -> Attachment:
    """Load the agent into `pid` and return the target to keep in `folder`. Blocks.

    Raises:
        UiNotEnabledError: refused; `details["reason"]` names the cause.
    """
    title = next((found.command for found in jvms() if found.pid == pid), "")
    address = start_agent(pid, read_only=read_only, folder=folder / "agent")
    (folder / "agent" / f"javafx-{pid}.json").unlink(missing_ok=True)
    return Attachment(f"javafx-{pid}", "javafx", title, pid=pid, port=address.port, token=address.token)


def agent_jar(folder: Path) -> Path:
    """Copy the agent to a real file, which a JVM needs.

    Raises:
        UiNotEnabledError: this installation was made without it.
    """
    bundled = BUNDLE / "agents" / "javafx-agent.jar"
    if not bundled.is_file():
        raise UiNotEnabledError("The JavaFX agent is missing\nRun `make agent` in a clone.", reason="NOT_BUILT")
    copy = folder / "javafx-agent.jar"
    temporary = folder / f".agent-{os.getpid()}"
    shutil.copyfile(bundled, temporary)
    temporary.replace(copy)
    return copy
