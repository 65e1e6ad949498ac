"""The disk turns read-only or full under servers at work: said by name, nothing acknowledged lost, then it goes on."""

import json
import resource
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from integration.nlui import nlui
from person_client import let_in
from soak.disk import FailingDisk, failing_disk
from soak.people import Crowd, call_tool
from soak.product import Product
from soak.run import displayed

pytestmark = pytest.mark.slow
WAY_OUT = "make the disk writable"
KINDS = pytest.mark.parametrize(
    ("how", "words"), [("ro", "Read-only file system"), ("full", "No space left on device")]
)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[FailingDisk]:
    with failing_disk(tmp_path) as made:
        yield made


@asynccontextmanager
async def at_work(project: Path, log: Path) -> AsyncIterator[tuple[Crowd, httpx2.AsyncClient]]:
    """People click, chat and call tools on a server."""
    product = Product(project, log)
    await anyio.to_thread.run_sync(product.start)
    crowd = Crowd(product)
    try:
        await displayed(crowd)
        async with httpx2.AsyncClient(timeout=120) as http, anyio.create_task_group() as people:
            for work in (crowd.tab, crowd.tab, crowd.follows, crowd.agent):
                people.start_soon(work)
            people.start_soon(crowd.writes, "writer")
            yield crowd, http
            crowd.over.set()
        assert await anyio.to_thread.run_sync(product.stop) == 0
    finally:
        product.process.kill()
        product.process.wait()


async def more(count: Any) -> None:
    """Wait until something has been counted twice more."""
    goal = count() + 2
    with anyio.fail_after(120):
        while count() < goal:
            await anyio.sleep(0.02)


def text(answer: dict[str, Any]) -> str:
    return str(answer["content"][0]["text"])


@KINDS
async def test_a_server_names_what_it_cannot_write_and_goes_on_with_everything_else(
    disk: FailingDisk, tmp_path: Path, how: str, words: str
) -> None:
    async with at_work(disk.folder / "project", tmp_path / "server.log") as (crowd, http):
        seen = crowd.seen
        await more(lambda: len(seen.acknowledged))
        disk.fail(how)

        await more(lambda: seen.clicks)
        await more(lambda: seen.calls)
        await refusals(crowd, http, words)
        assert await anyio.to_thread.run_sync(crowd.product.kill_child, "ui_mcp.lua_runtime")
        await more(lambda: seen.clicks)
        await more(lambda: seen.calls)

        disk.repair()
        await more(lambda: len(seen.acknowledged))
        uploaded = {"type": "Tally", "namespace": "small", "content": "<template><b>x</b></template>"}
        saved = [part["text"] for part in (await crowd.call(http, "ui_upload_viewdef", uploaded))["content"]]
        assert saved == ["Viewdef Tally.small uploaded"]
        await everything_read(crowd, http)
    # What ran in the very process that was killed has failed with it; nothing else has.
    assert [words for words in seen.refused if "process ended with status -9" not in words] == []
    assert "Traceback" not in (tmp_path / "server.log").read_text()


async def test_a_server_that_may_not_write_at_all_says_so_and_recovers(tmp_path: Path) -> None:
    """Needs no root: the limit on the size of files is taken down to nothing under the running process."""
    async with at_work(tmp_path / "project", tmp_path / "server.log") as (crowd, http):
        seen, server = crowd.seen, crowd.product.process.pid
        await more(lambda: len(seen.acknowledged))
        before = resource.prlimit(server, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))

        await more(lambda: seen.clicks)
        await more(lambda: seen.calls)
        await refused_posts(crowd, http)

        resource.prlimit(server, resource.RLIMIT_FSIZE, before)
        await more(lambda: len(seen.acknowledged))
        await everything_read(crowd, http)


async def refusals(crowd: Crowd, http: httpx2.AsyncClient, words: str) -> None:
    """Try everything that has to write."""
    await refused_posts(crowd, http)
    uploaded = {"type": "Tally", "namespace": "small", "content": "<template><b>x</b></template>"}
    used, unsaved = (part["text"] for part in (await crowd.call(http, "ui_upload_viewdef", uploaded))["content"])
    assert used == "Viewdef Tally.small uploaded"
    assert "not saved" in unsaved
    assert "viewdefs/Tally.small.html" in unsaved
    assert words in unsaved
    assert WAY_OUT in unsaved
    elsewhere = await crowd.call(http, "ui_configure", {"base_dir": str(crowd.product.folder / "elsewhere")})
    assert words in text(elsewhere)
    assert f"SKILL.md: {words}" in text(await crowd.call(http, "ui_install", {"force": True}))
    long = json.loads(text(await crowd.call(http, "ui_run", {"code": "print('x') return string.rep('x', 100000)"})))
    assert (long["chars"], "file" in long, words in long["hint"]) == (100_002, False, True)


async def everything_read(crowd: Crowd, http: httpx2.AsyncClient) -> None:
    """Read to the end what was acknowledged: each message once, in order, and nothing else."""
    crowd.over.set()
    with anyio.fail_after(120):
        while [content for _, content in crowd.seen.followed] != list(crowd.seen.acknowledged):
            await crowd.catch_up(http)


async def refused_posts(crowd: Crowd, http: httpx2.AsyncClient) -> None:
    """Write as the person and as the assistant."""
    said = await crowd.say(http, {"content": "x" * 9000})
    posted = await crowd.call(http, "chat_assistant_post", {"content": "x" * 9000})
    for answer in (said.text, text(posted)):
        assert "runtime.db" in answer
        assert WAY_OUT in answer
    assert (said.status_code, posted["isError"]) == (500, True)


@KINDS
async def test_a_server_is_started_and_stopped_by_its_words_while_the_disk_fails(
    disk: FailingDisk, tmp_path: Path, how: str, words: str
) -> None:
    async with at_work(disk.folder / "project", tmp_path / "server.log") as (crowd, http):
        await more(lambda: len(crowd.seen.acknowledged))
        other = {"base_dir": str(crowd.product.folder / "other")}
        assert not (await crowd.call(http, "ui_configure", other))["isError"]
        disk.fail(how)

        refused = await crowd.call(http, "ui_start", {})
        chat = await crowd.call(http, "chat_read_since", {})

        assert words in text(refused)
        assert WAY_OUT in text(refused)
        assert WAY_OUT in text(chat)
        disk.repair()
        assert not (await crowd.call(http, "ui_start", {}))["isError"]
        disk.fail(how)
    assert "Traceback" not in (tmp_path / "server.log").read_text()


class Nlui:
    """A person at the chat page of nlui."""

    def __init__(self, url: str, http: httpx2.AsyncClient) -> None:
        self.url = url
        self.http = http
        self.asked = anyio.Event()
        """Set when the person is asked about a call."""

    async def said(self, message: str) -> str:
        """Say something and return everything that comes of it."""
        body = {"message": message, "conversation_id": "talk"}
        lines: list[str] = []
        async with self.http.stream("POST", f"{self.url}/api/chat", json=body) as answer:
            async for line in answer.aiter_lines():
                lines.append(line)
                if "tool_confirm" in line:
                    self.asked.set()
        return "\n".join(lines)

    async def allow(self) -> httpx2.Response:
        """Allow what was asked last."""
        body = {"conversation_id": "talk", "approved": True}
        return await self.http.post(f"{self.url}/api/chat/confirm", json=body)


@KINDS
async def test_the_chat_of_nlui_waits_for_its_disk_and_finishes_what_it_had_begun(
    disk: FailingDisk, how: str, words: str
) -> None:
    with nlui(disk.folder, "--port", "0", TMPDIR=str(disk.folder)) as url:
        async with httpx2.AsyncClient(timeout=120) as http:
            http.headers.update(await anyio.to_thread.run_sync(let_in, url))
            person = Nlui(url, http)
            assert "scripted demo" in await person.said("hello")
            streams: list[str] = []

            async def ship() -> None:
                streams.append(await person.said("ship order 1"))

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(ship)
                with anyio.fail_after(120):
                    await person.asked.wait()
                disk.fail(how)

                for answer in (await http.post(f"{url}/api/chat", json={"message": "anybody?"}), await person.allow()):
                    assert answer.status_code >= 400
                    assert ".db" in answer.json()["error"]
                    assert WAY_OUT in answer.json()["error"]
                assert [life["id"] for life in (await http.get(f"{url}/api/conversations")).json()] == ["talk"]
            assert "agent.db" in streams[0]
            assert WAY_OUT in streams[0]
            listed = await call_tool(http, f"{url}/mcp", "shop__list_orders", {})
            assert "Ada Lovelace" in text(listed)
            assert audited(disk) == []

            disk.repair()
            with anyio.fail_after(120):
                while (answer := await person.allow()).status_code != 200:
                    await anyio.sleep(0.2)
            assert "on its way" in await until_shipped(person)
            assert "scripted demo" in await person.said("hello")
            with anyio.fail_after(120):
                while audited(disk) != ["shop__list_orders", "shop__ship_order"]:
                    await anyio.sleep(0.05)


def audited(disk: FailingDisk) -> list[str]:
    """Return the calls of the shop that were written down as carried out."""
    lines = [json.loads(line) for file in disk.folder.glob("*/audit.jsonl") for line in file.open()]
    return [line["tool"] for line in lines if line["tool"].startswith("shop__") and line["outcome"] != "asked"]


async def until_shipped(person: Nlui) -> str:
    with anyio.fail_after(120):
        while True:
            talk = (await person.http.get(f"{person.url}/api/conversations/talk")).text
            if "on its way" in talk:
                return talk
            await anyio.sleep(0.05)
