"""Disks that are full or read-only, and clocks that jump: said plainly, survived, nothing acknowledged is lost."""

import ctypes
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import httpx2
import pytest

from soak.people import Crowd
from soak.product import Product

pytestmark = pytest.mark.slow
FAKETIME = [*Path("/usr/lib").glob("*/faketime/libfaketime.so.1")]


def mounted(*words: str) -> None:
    if os.getuid() != 0:
        pytest.skip("only root may mount")
    subprocess.run(words, capture_output=True, check=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 8 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted("mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder))
    yield folder
    ctypes.CDLL(None).umount2(str(folder).encode(), 2)


@asynccontextmanager
async def running(folder: Path) -> AsyncIterator[tuple[Product, Crowd, httpx2.AsyncClient]]:
    product = Product(folder)
    await anyio.to_thread.run_sync(product.start)
    try:
        async with httpx2.AsyncClient(timeout=60) as http:
            yield product, Crowd(product), http
    finally:
        product.process.kill()
        product.process.wait()


def fill(file: Path) -> None:
    """Write until the disk is full."""
    with suppress(OSError), file.open("wb", buffering=0) as rest:
        while True:
            rest.write(b"x" * 4096)


async def contents(crowd: Crowd, http: httpx2.AsyncClient) -> list[str]:
    crowd.seen.followed.clear()
    while await crowd.catch_up(http):
        pass
    return [text.split(" ")[0] for _, text in crowd.seen.followed]


async def refusal(crowd: Crowd, http: httpx2.AsyncClient) -> httpx2.Response:
    body = {"content": "no room " + "x" * 4000, "client_id": "no-room"}
    return await crowd.say(http, body)


async def test_a_full_disk_refuses_a_post_keeps_the_page_alive_and_recovers(disk: Path) -> None:
    async with running(disk) as (_, crowd, http):
        assert await crowd._post(http, "first")
        filler = disk / "filler"
        fill(filler)

        answer = await refusal(crowd, http)

        assert answer.status_code >= 500
        assert "disk" in answer.text.lower(), answer.text
        assert (await crowd.call(http, "ui_run", {"code": "return 6 * 7"}))["content"][0]["text"] == "42"
        filler.unlink()
        assert await crowd._post(http, "second")
        assert await contents(crowd, http) == ["first", "second"]


def test_a_read_only_project_is_named_at_the_start(disk: Path) -> None:
    mounted("mount", "-o", "remount,ro", str(disk))

    done = subprocess.run(
        [sys.executable, "-m", "ui_mcp", "serve", "--port", "0", "--mcp-port", "0"],
        cwd=disk, capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip

    assert done.returncode != 0
    assert "Read-only file system" in done.stderr
    assert "Traceback" not in done.stderr


async def test_clock_steps_neither_reorder_messages_nor_end_sessions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert FAKETIME or os.environ.get("CI") != "true", "libfaketime is missing"
    if not FAKETIME:
        pytest.skip("libfaketime is missing")
    clock = tmp_path / "clock"
    clock.write_text("+0")
    monkeypatch.setenv("LD_PRELOAD", str(FAKETIME[0]))
    monkeypatch.setenv("FAKETIME_TIMESTAMP_FILE", str(clock))
    monkeypatch.setenv("FAKETIME_NO_CACHE", "1")
    monkeypatch.setenv("DONT_FAKE_MONOTONIC", "1")
    async with running(tmp_path / "project") as (_, crowd, http):
        monkeypatch.undo()
        cookie = {"cookie": f"ui-visitor-{crowd.product.ui_port}={await crowd.visitor(http)}"}
        for number, step in enumerate(("+0", "-2d", "+3d", "-1h")):
            clock.write_text(step)
            assert await crowd._post(http, f"{number}")

        assert await contents(crowd, http) == ["0", "1", "2", "3"]
        assert (await http.get(f"{crowd.product.ui}/variables.json", headers=cookie)).status_code == 200
