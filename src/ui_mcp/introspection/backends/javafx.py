"""Backend for JavaFX and Swing programs: talks to the agent inside the JVM, in lines of JSON over a loopback socket."""

import base64
import gzip
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
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
from ui_mcp.files import write_atomic
from ui_mcp.introspection.backend import Attachment, AttachRequest, Backend, Noticed, ScreenshotRequest
from ui_mcp.introspection.backends.jvm_attach import jvms, load_agent, load_by_jdk
from ui_mcp.introspection.contract import RECORDED, CaptureRequest
from ui_mcp.jsontypes import JsonObject, dumps, loads
from ui_mcp.workspace import BUNDLE

SECONDS = 8.0
"""Time limit of one request inside the agent."""
_MAX_LINE = 64 * 1024 * 1024
_ERRORS: dict[str, type[IntrospectError]] = {
    kind.code: kind
    for kind in (
        UiActionFailedError, UiArgumentError, UiNodeNotFoundError, UiNoStagesError, UiNotEnabledError,
        UiStaleRefError, UiTimeoutError,
    )
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Address:
    """Process, port and access token of an agent."""

    pid: int
    port: int
    token: str

    @classmethod
    def read(cls, file: Path) -> "Address":
        """Read the file that the agent wrote.

        Raises:
            UiNotEnabledError: the agent could not start; the reason is the agent's.
        """
        facts = loads(file.read_bytes())
        if "error" in facts:
            reason = str(facts["error"]).partition(":")[0]
            raise UiNotEnabledError(f"The program cannot be inspected: {facts['error']}", reason=reason)
        return cls(int(facts["pid"]), int(facts["port"]), str(facts["token"]))


class JavaFxBackend:
    """One JavaFX or Swing program with the agent inside it."""

    kind = "javafx"

    def __init__(self, address: Address, stream: SocketStream) -> None:
        self.address = address
        self._stream = stream
        self._lines = BufferedByteReceiveStream(stream)
        self._last_id = 0
        self._lock = anyio.Lock()
        self._closed = False
        self._noticed: Noticed | None = None

    @classmethod
    async def attach(cls, pid: int, *, read_only: bool = False, folder: Path | None = None) -> "JavaFxBackend":
        """Load the agent into a running program, unless it is loaded already, and connect.

        Raises:
            UiNotEnabledError: this is not possible; `details["reason"]` names the cause.
        """
        address = await anyio.to_thread.run_sync(lambda: start_agent(pid, read_only=read_only, folder=folder))
        return await cls.connect(address)

    @classmethod
    async def connect(cls, address: Address) -> "JavaFxBackend":
        """Connect to a running agent.

        Raises:
            UiNotEnabledError: it no longer listens.
        """
        try:
            stream = await anyio.connect_tcp("127.0.0.1", address.port)
            await stream.send(address.token.encode() + b"\n")
        except OSError as error:
            raise UiNotEnabledError(f"The agent in process {address.pid} no longer listens", reason="GONE") from error
        return cls(address, stream)

    async def describe(self) -> str:
        captured = await self._call({"op": "capture", "ask": CaptureRequest(depth=0).json()})
        return f"{captured['app']['mainClass']} (pid {self.address.pid})"

    async def capture(self, request: CaptureRequest) -> JsonObject:
        return await self._call({"op": "capture", "ask": request.json()})

    async def tell(self, rows: Sequence[str]) -> None:
        await self._call({"op": "tell", "rows": list(rows)})

    async def act(self, action: JsonObject) -> None:
        await self._call({"op": "act", "action": action})

    async def idle(self) -> None:
        """Wait until all submitted actions have run, and for two JavaFX pulses."""
        await self._call({"op": "idle"})

    async def screenshot(self, request: ScreenshotRequest) -> bytes:
        wanted = {
            "stage": request.stage,
            "ref": request.ref and request.ref.json(),
            "maxWidth": request.max_width,
            "annotate": request.annotate,
        }
        return base64.b64decode((await self._call({"op": "pixels", "photo": wanted}))["png"])

    async def at(self, x: float, y: float) -> list[JsonObject]:
        return list((await self._call({"op": "at", "x": x, "y": y}))["chain"])

    async def watch(self, noticed: Noticed | None, redact: Sequence[str] = ()) -> None:
        ask = replace(RECORDED, redact=tuple(redact)).json() if noticed is not None else None
        await self._call({"op": "watch", "ask": ask})
        self._noticed = noticed

    async def collect(self) -> None:
        more = self._noticed is not None
        while more and self._noticed is not None:
            answer = await self._call({"op": "noticed"})
            more = answer["more"]
            for event in answer["events"]:
                if "capture" in event:
                    event["capture"] = loads(gzip.decompress(base64.b64decode(event["capture"])))
                self._noticed(event)

    async def slices(self) -> list[tuple[float, float]]:
        """Return wall and CPU time, in ms, of each use of the JavaFX thread by the agent since the last call."""
        work = await self._call({"op": "work"})
        return list(zip(work["clockMs"], work["workMs"], strict=True))

    async def mark_changes(self, before: bytes, after: bytes) -> bytes:
        raise UiActionFailedError("Only a browser compares pictures", reason="NEEDS_NATIVE_INPUT", use="browser")

    def problems(self) -> list[str]:
        return []  # there is no common place where JavaFX programs report errors

    def alive(self) -> bool:
        """Return whether the connection worked at the last call."""
        return not self._closed

    async def close(self) -> None:
        await self._stream.aclose()

    async def _call(self, request: JsonObject) -> JsonObject:
        async with self._lock:
            self._last_id += 1
            number = self._last_id
            sent = {"id": number, "timeoutMs": int(SECONDS * 1000), **request}
            try:
                await self._stream.send(dumps(sent).encode() + b"\n")
                answer = await self._read_answer(number)
            except (
                anyio.ClosedResourceError,
                anyio.BrokenResourceError,
                anyio.EndOfStream,
                anyio.IncompleteRead,
            ) as error:
                self._closed = True
                raise UiNotEnabledError(f"Process {self.address.pid} is gone", reason="GONE") from error
        if "error" in answer:
            error_json = answer["error"]
            raise _ERRORS.get(error_json["code"], IntrospectError)(error_json["message"], **error_json["details"])
        return dict(answer["ok"])

    async def _read_answer(self, number: int) -> JsonObject:
        # Answers with other ids belong to calls that were cancelled.
        while True:
            line = await self._lines.receive_until(b"\n", _MAX_LINE)
            answer = loads(line)
            if answer.get("id") == number:
                return dict(answer)


def start_agent(pid: int, *, read_only: bool = False, folder: Path | None = None) -> Address:
    """Load the agent into the JVM `pid` and return its address. Blocks.

    Raises:
        UiNotEnabledError: this is not possible; `details["reason"]` names the cause.
    """
    own_folder = folder or Path(tempfile.mkdtemp(prefix="ui-mcp-"))
    own_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = own_folder / f"javafx-{pid}.json"
    file.unlink(missing_ok=True)  # else an old file could be taken for the new agent's
    load = load_agent if sys.platform == "linux" else load_by_jdk
    load(pid, agent_jar(own_folder), f"file={file};enabled=true;readonly={str(read_only).lower()}")
    if not file.is_file():
        raise UiNotEnabledError(f"The agent in process {pid} did not report its address", reason="ATTACH_FAILED")
    address = Address.read(file)
    return Address(pid, address.port, address.token)


def attach_javafx(folder: Path, pid: int, *, read_only: bool = False) -> Attachment:
    """Load the agent into the JVM `pid` and return the attachment to save in `folder`. Blocks.

    Raises:
        UiNotEnabledError: this is not possible; `details["reason"]` names the cause.
    """
    jvm = next((found for found in jvms() if found.pid == pid), None)
    title = jvm.command if jvm else ""
    toolkit = "swing" if jvm and jvm.swing else "javafx"
    address = start_agent(pid, read_only=read_only, folder=folder / "agent")
    (folder / "agent" / f"javafx-{pid}.json").unlink(missing_ok=True)
    return Attachment(f"{toolkit}-{pid}", "javafx", title, pid=pid, port=address.port, token=address.token)


def agent_jar(folder: Path) -> Path:
    """Copy the agent's jar from the bundle into `folder` and return its path.

    Raises:
        UiNotEnabledError: the jar is not part of this installation.
    """
    bundled = BUNDLE / "agents" / "javafx-agent.jar"
    if not bundled.is_file():
        raise UiNotEnabledError("The JavaFX agent is missing\nRun `make agent` in a clone.", reason="NOT_BUILT")
    copy = folder / "javafx-agent.jar"
    write_atomic(copy, bundled.read_bytes())  # atomic: a JVM may have the old copy open
    return copy


async def _attach(request: AttachRequest) -> Attachment:
    pid = _find_jvm(request.match) if request.pid is None else request.pid
    return await anyio.to_thread.run_sync(lambda: attach_javafx(request.folder, pid, read_only=request.read_only))


def _find_jvm(match: str | None) -> int:
    running = [jvm for jvm in jvms() if jvm.javafx or jvm.swing]
    matches = [jvm for jvm in running if match and match in jvm.command]
    if len(matches) == 1:
        return matches[0].pid
    names = ", ".join(f"{jvm.pid} {jvm.command}" for jvm in running) or "none"
    raise UiArgumentError(
        f"{len(matches)} JavaFX and Swing programs match {match!r}\nThere are: {names}. Give pid or match."
    )


async def _open(attached: Attachment) -> JavaFxBackend:
    return await JavaFxBackend.connect(Address(attached.pid, attached.port, attached.token))


BACKEND = Backend("javafx", "PID", "process id of a running JavaFX or Swing program", _attach, _open)
