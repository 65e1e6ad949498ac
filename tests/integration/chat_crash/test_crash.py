"""Servers and followers are killed with -9 at random while four writers post; nothing is lost, doubled or reordered."""

import json
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from agreeing import agree
from ports import free_ports
from terminals import with_terminal
from ui_mcp.chat.identity import ROLES, AccessTokens
from ui_mcp.chat.service import open_store
from ui_mcp.chat.store import Query

HERE = Path(__file__).parent
UI_MCP = [sys.executable, "-c", "import sys; from ui_mcp.cli.entry import main; sys.exit(main())"]
MESSAGES, WRITERS, FOLLOWERS, KILLS, LIMIT = 5000, 4, 3, 40, 780.0


@dataclass
class Keeper:
    """Keeps a process alive however often it is killed, until it ends by itself."""

    command: list[str]
    errors: Path
    output: Path | None = None
    kills: int = 0
    process: "subprocess.Popen[bytes]" = field(init=False)

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        with ExitStack() as stack:
            out = stack.enter_context(self.output.open("ab")) if self.output else subprocess.DEVNULL
            errors = stack.enter_context(self.errors.open("ab"))
            self.process = subprocess.Popen(self.command, stdout=out, stderr=errors)

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.kills += 1
            self.start()

    def check(self) -> None:
        """Fail if it gave up by itself: only our signal may end it before its work is done."""
        ended = self.process.poll()
        assert ended in {None, 0}, f"{self.command} ended by itself with {ended}: {self.errors.read_text()[-4000:]}"

    def done(self) -> bool:
        return self.process.poll() == 0


@contextmanager
def kept(keepers: list[Keeper]) -> Iterator[list[Keeper]]:
    try:
        yield keepers
    finally:
        for keeper in keepers:
            keeper.process.kill()
            keeper.process.wait()


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.covers("CHAT-CRASH-1", "R-ST-6", "R-IN-5")
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_every_follower_holds_the_acknowledged_messages_once_and_in_order(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path}/ui/storage/runtime.db"
    if kind == "postgres":
        make: Callable[[], str] = request.getfixturevalue("postgres_url")
        url = make()
    _configure(tmp_path / "ui", url)
    monkeypatch.setenv("CHAT_TOKEN", anyio.run(_token, url))
    ports = free_ports(2)  # two servers on one store: writers of different processes overlap
    with kept([]) as processes:
        servers = [_server(tmp_path, port) for port in ports]
        writers = [_writer(tmp_path, ports[n % 2], n) for n in range(WRITERS)]
        followers = [_follower(tmp_path, ports[n % 2], n) for n in range(FOLLOWERS)]
        processes += [*servers, *writers, *followers]
        _torment(servers + followers, until=writers + followers)

    acknowledged = [json.loads(line) for n in range(WRITERS) for line in (tmp_path / f"writer{n}").open()]
    stored = anyio.run(_stored, url)
    assert sum(keeper.kills for keeper in servers) >= 4
    assert sum(keeper.kills for keeper in followers) >= 4
    assert sorted(stored) == sorted((ack[0], ack[1]) for ack in acknowledged)
    assert len(stored) == len(set(stored)) == MESSAGES
    for n in range(FOLLOWERS):
        with sqlite3.connect(tmp_path / f"follower{n}") as file:
            assert file.execute("SELECT id, content FROM taken ORDER BY n").fetchall() == stored


def _configure(base: Path, url: str) -> None:
    (base / "config").mkdir(parents=True)
    (base / "config" / "config.toml").write_text(f'[storage]\nurl = "{url}"\n[chat]\nrate = 100000.0\n')
    agree(base)


def _server(folder: Path, port: int) -> Keeper:
    command = [*UI_MCP, "chat", "--face", "human", "--port", str(port), "--dir", str(folder / "ui")]
    return Keeper(with_terminal(command), folder / f"server{port}.log")


def _writer(folder: Path, port: int, n: int) -> Keeper:
    share = MESSAGES // WRITERS
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, str(HERE / "writer.py"), url, f"w{n}", str(n * share), str((n + 1) * share)]
    return Keeper(command, folder / f"writer{n}.log", folder / f"writer{n}")


def _follower(folder: Path, port: int, n: int) -> Keeper:
    url = f"http://127.0.0.1:{port}/mcp"
    command = [sys.executable, str(HERE / "follower.py"), url, str(folder / f"follower{n}"), str(MESSAGES)]
    return Keeper(command, folder / f"follower{n}.log")


def _torment(victims: list[Keeper], until: list[Keeper]) -> None:
    """Kill one of the victims about every second, forty times at most, until everybody else is done."""
    chance = random.Random(5)
    deadline = time.monotonic() + LIMIT
    while not all(keeper.done() for keeper in until):
        assert time.monotonic() < deadline, [keeper.command for keeper in until if not keeper.done()]
        time.sleep(chance.uniform(0.4, 1.2))
        for keeper in (*victims, *until):
            keeper.check()
        if sum(victim.kills for victim in victims) < KILLS:
            chance.choice(victims).kill()


async def _token(url: str) -> str:
    """Make the token by which writers and followers speak for the human."""
    async with open_store(url) as store:
        return await AccessTokens(store).create("human", ROLES["human"])


async def _stored(url: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    async with open_store(url) as store:
        after, more = 0, True
        while more:
            page = await store.since(Query("default", after))
            found += [(entry["id"], entry["content"]) for entry in page.to_json()["messages"]]
            after, more = page.last or 0, page.has_more
    return found
