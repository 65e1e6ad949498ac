"""Attaching: every launch shape works without a flag, every refusal is named, nothing is left behind."""

import os
import signal
import socket
import subprocess
from contextlib import suppress
from pathlib import Path

import anyio
import pytest

from e2e.introspect_javafx.conftest import Programs
from introspection.demos import PATIENCE, ROOT, running
from ui_mcp.errors import UiNotEnabledError
from ui_mcp.introspection.arguments import Selector
from ui_mcp.introspection.backends.javafx import Address, JavaFxBackend, agent_jar, start_agent
from ui_mcp.introspection.backends.jvm_attach import jvms, load_agent, load_by_jdk
from ui_mcp.introspection.contract import CaptureRequest, Ref
from ui_mcp.introspection.target import Target

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

SHAPES = ["class path", "named modules", "mixed", "module layer", "isolated loader"]


async def texts(backend: JavaFxBackend) -> set[str]:
    capture = await Target("javafx", backend, seconds=PATIENCE).capture(CaptureRequest(stage="all"))
    return {node.record.get("l", "") for node in capture.nodes()}


async def gone(pid: int) -> None:
    """Wait until a program has ended."""
    status = Path(f"/proc/{pid}/status")
    with anyio.fail_after(PATIENCE), suppress(FileNotFoundError, ProcessLookupError):
        while "zombie" not in status.read_text():
            await anyio.sleep(0.05)


async def written(file: Path) -> Address:
    """Wait until an agent has said where it listens."""
    with anyio.fail_after(PATIENCE):
        while not file.exists():
            await anyio.sleep(0.05)
    return Address.read(file)


@pytest.mark.covers("IN-76")
@pytest.mark.parametrize("shape", SHAPES)
async def test_a_program_of_any_shape_is_seen_without_a_flag(programs: Programs, screen: str, shape: str) -> None:
    async with running(programs.command(shape), screen) as pid:
        assert pid in {jvm.pid for jvm in jvms() if jvm.javafx}

        backend = await JavaFxBackend.attach(pid)

        assert "OK" in await texts(backend)
        await backend.close()


@pytest.mark.covers("IN-76")
@pytest.mark.parametrize(
    ("option", "reason"),
    [
        ("-XX:-EnableDynamicAgentLoading", "DYNAMIC_AGENTS_DISABLED"),
        ("-XX:+DisableAttachMechanism", "ATTACH_DISABLED"),
    ],
)
async def test_a_program_that_refuses_is_named_and_can_be_started_with_the_agent(
    programs: Programs, screen: str, tmp_path: Path, option: str, reason: str
) -> None:
    file = tmp_path / "started.json"
    agent = f"-javaagent:{agent_jar(tmp_path)}=enabled=true;file={file}"
    async with running(programs.command("mixed", option, agent), screen) as pid:
        with pytest.raises(UiNotEnabledError) as caught:
            await JavaFxBackend.attach(pid)
        assert caught.value.details["reason"] == reason

        backend = await JavaFxBackend.connect(await written(file))
        assert "OK" in await texts(backend)
        assert file.stat().st_mode & 0o777 == 0o600
        await backend.close()


@pytest.mark.covers("IN-97")
async def test_where_the_protocol_is_not_ours_a_jdk_helps(programs: Programs, screen: str, tmp_path: Path) -> None:
    file = tmp_path / "agent.json"
    async with running(programs.command("mixed"), screen) as pid:
        await anyio.to_thread.run_sync(load_by_jdk, pid, agent_jar(tmp_path), f"enabled=true;file={file}")

        backend = await JavaFxBackend.connect(Address.read(file))
        assert "OK" in await texts(backend)
        await backend.close()
    with pytest.raises(UiNotEnabledError):
        load_by_jdk(pid, agent_jar(tmp_path), "")


@pytest.mark.covers("IN-76")
async def test_what_is_no_java_program_gets_no_signal(tmp_path: Path) -> None:
    process = subprocess.Popen(["sleep", "60"])
    try:
        with pytest.raises(UiNotEnabledError) as caught:
            load_agent(process.pid, tmp_path / "none.jar", "")
        assert caught.value.details["reason"] == "NOT_A_JVM"
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()


@pytest.mark.covers("IN-76")
@pytest.mark.skipif(os.getuid() != 0, reason="only root can start a program of another user")
async def test_a_program_of_another_user_is_refused(tmp_path: Path) -> None:
    process = subprocess.Popen(["sleep", "60"], user=65534)
    try:
        with pytest.raises(UiNotEnabledError) as caught:
            load_agent(process.pid, tmp_path / "none.jar", "")
        assert caught.value.details["reason"] == "OTHER_USER"
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()


@pytest.mark.covers("IN-76")
async def test_a_program_that_is_just_starting_survives(programs: Programs, screen: str) -> None:
    process = await anyio.open_process(programs.command("none"), env={**os.environ, "DISPLAY": screen})
    with anyio.fail_after(PATIENCE):
        while process.pid not in {jvm.pid for jvm in jvms()}:
            await anyio.sleep(0)

    with pytest.raises(UiNotEnabledError) as caught:
        await JavaFxBackend.attach(process.pid)

    survived = process.returncode is None
    process.kill()
    await process.aclose()
    assert survived
    assert caught.value.details["reason"] == "NO_TOOLKIT"


async def test_a_socket_left_by_a_killed_program_of_the_same_number_is_no_hindrance(
    programs: Programs, screen: str
) -> None:
    async with running(programs.command("class path"), screen) as pid:
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(f"/tmp/.java_pid{pid}")

        backend = await JavaFxBackend.attach(pid)

        assert "OK" in await texts(backend)
        await backend.close()


@pytest.mark.covers("IN-76")
async def test_a_java_program_without_javafx_is_named(programs: Programs, screen: str) -> None:
    async with running(programs.command("none"), screen) as pid:
        with pytest.raises(UiNotEnabledError) as caught:
            await JavaFxBackend.attach(pid)

    assert caught.value.details["reason"] == "NO_TOOLKIT"


@pytest.mark.covers("IN-76")
async def test_a_runtime_without_instrumentation_is_named(programs: Programs, screen: str, tmp_path: Path) -> None:
    image = tmp_path / "image"
    subprocess.run(["jlink", "--add-modules", "java.base", "--output", str(image)], check=True)
    command = [str(image / "bin/java"), "-cp", str(programs.launch), "Launch", "sleep", ""]
    async with running(command, screen) as pid:
        with pytest.raises(UiNotEnabledError) as caught:
            await JavaFxBackend.attach(pid)

    assert caught.value.details["reason"] == "NO_INSTRUMENT_MODULE"


def listens_on(port: int) -> set[str]:
    """Return the addresses on which anybody listens at this port, from the kernel's table."""
    lines = [line.split() for table in ("tcp", "tcp6") for line in Path(f"/proc/net/{table}").read_text().splitlines()]
    local = [line[1].split(":") for line in lines if line[3] == "0A"]
    return {
        "127.0.0.1" if host in {"0100007F", "0000000000000000FFFF00000100007F"} else host
        for host, number in local
        if int(number, 16) == port
    }


@pytest.mark.covers("IN-75", "IN-73", "IN-69", "IN-95", "IN-93")
async def test_attaching_twice_makes_one_server_that_wants_its_token(
    programs: Programs, screen: str, tmp_path: Path
) -> None:
    async with running(programs.command("mixed"), screen) as pid:
        first = await anyio.to_thread.run_sync(lambda: start_agent(pid, folder=tmp_path))
        second = await anyio.to_thread.run_sync(lambda: start_agent(pid, folder=tmp_path))
        assert first == second
        assert listens_on(first.port) == {"127.0.0.1"}

        stranger = await JavaFxBackend.connect(Address(pid, first.port, "0" * 32))
        with pytest.raises(UiNotEnabledError):
            await stranger.capture(CaptureRequest())

        friend = await JavaFxBackend.connect(first)
        os.kill(pid, signal.SIGKILL)
        await gone(pid)
        with pytest.raises(UiNotEnabledError) as caught:
            await friend.capture(CaptureRequest())
        assert caught.value.details["reason"] == "GONE"


@pytest.mark.covers("IN-95", "IN-72")
async def test_without_the_flag_the_agent_refuses_everything(programs: Programs, screen: str, tmp_path: Path) -> None:
    file = tmp_path / "started.json"
    agent = f"-javaagent:{agent_jar(tmp_path)}=file={file}"
    async with running(programs.command("mixed", agent), screen):
        backend = await JavaFxBackend.connect(await written(file))
        with pytest.raises(UiNotEnabledError) as caught:
            await backend.capture(CaptureRequest())

    assert caught.value.details["reason"] == "FLAG_OFF"


@pytest.mark.covers("IN-75", "IN-74")
async def test_a_watched_program_can_be_read_only_and_ends_as_it_would(programs: Programs, screen: str) -> None:
    async with running(programs.command("mixed"), screen) as pid:
        backend = await JavaFxBackend.attach(pid, read_only=True)
        target = Target("javafx", backend, seconds=PATIENCE)
        (ok,) = await target.find(Selector(css="#okButton"), CaptureRequest(css="#okButton", internals=True))
        with pytest.raises(UiNotEnabledError) as caught:
            await target.act({"type": "click", "target": {"uid": ok.uid, "path": None}})
        assert caught.value.details["reason"] == "READ_ONLY"
        await target.node(Ref(ok.uid))
        await backend.close()

        again = Target("javafx", await JavaFxBackend.attach(pid), seconds=PATIENCE)
        (menu,) = await again.find(Selector(text="File"), CaptureRequest())
        await again.act({"type": "click", "target": {"uid": menu.uid, "path": None}})
        await again.backend.idle()
        (leave,) = await again.find(Selector(text="Quit"), CaptureRequest(stage="all"))
        await again.act({"type": "click", "target": {"uid": leave.uid, "path": None}})

        await gone(pid)


@pytest.mark.covers("IN-114")
def test_two_builds_of_the_agent_are_the_same_bytes(tmp_path: Path) -> None:
    build = str(ROOT / "agents/jvm/build.py")
    for name in ("one.jar", "two.jar"):
        subprocess.run(["python3", build, str(tmp_path / name)], check=True)

    assert (tmp_path / "one.jar").read_bytes() == (tmp_path / "two.jar").read_bytes()


@pytest.mark.covers("IN-73")
async def test_nonsense_on_the_wire_gets_an_error_and_the_agent_goes_on(
    programs: Programs, screen: str, tmp_path: Path
) -> None:
    lines = [
        b"",
        b"{",
        b"[]",
        b'{"op":1}',
        b'{"op":"act","action":{}}',
        b'{"op":"capture"}',
        b'"\\u12"',
        b"\xff\xfe",
        b"{}",
    ]
    async with running(programs.command("mixed"), screen) as pid:
        address = await anyio.to_thread.run_sync(lambda: start_agent(pid, folder=tmp_path))
        async with await anyio.connect_tcp("127.0.0.1", address.port) as stream:
            await stream.send(address.token.encode() + b"\n" + b"\n".join(lines) + b"\n")
            said = b""
            with anyio.fail_after(PATIENCE):
                while said.count(b"\n") < len(lines):
                    said += await stream.receive()
        backend = await JavaFxBackend.connect(address)
        assert "OK" in await texts(backend)
        await backend.close()

    assert said.count(b'"error"') == len(lines)
