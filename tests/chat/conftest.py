"""A store of each kind; the PostgreSQL one runs on a cluster of its own, started for the tests."""

import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from needs import missing
from ui_mcp.chat.service import open_store
from ui_mcp.chat.store import ChatStore


def _binaries() -> Path | None:
    found = shutil.which("initdb")
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return Path(found).parent if found else versions[-1].parent if versions else None


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a PostgreSQL cluster, without a database."""
    with postgres_cluster() as url:
        yield url


@contextmanager
def postgres_cluster() -> Iterator[str]:
    """Run a PostgreSQL cluster on a socket in a temporary directory; provide its URL without a database."""
    binaries = _binaries()
    if binaries is None:
        missing("PostgreSQL")
    home = Path(tempfile.mkdtemp(prefix="pg-"))
    as_owner: list[str] = []
    if os.geteuid() == 0:
        shutil.chown(home, "nobody")
        as_owner = ["setpriv", "--reuid=nobody", "--clear-groups"]

    def run(*command: str) -> None:
        subprocess.run([*as_owner, *command], check=True, stdout=subprocess.DEVNULL, cwd=home, timeout=180)

    run(str(binaries / "initdb"), "-D", f"{home}/data", "-U", "chat", "-A", "trust", "-E", "UTF8", "--no-sync")
    options = f"-c listen_addresses='' -c unix_socket_directories={home} -c fsync=off -c max_connections=200"
    run(str(binaries / "pg_ctl"), "-D", f"{home}/data", "-w", "-t", "150", "-l", f"{home}/log", "-o", options, "start")
    try:
        yield f"postgresql://chat@/{{}}?host={home}"
    finally:
        run(str(binaries / "pg_ctl"), "-D", f"{home}/data", "-m", "immediate", "stop")
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgres"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of an empty store, once per kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/storage/runtime.db"
    make: Callable[[], str] = request.getfixturevalue("postgres_url")
    return make()


@pytest.fixture
def postgres_url(postgres_server: str) -> Callable[[], str]:
    """Return a function that makes a database and returns its URL."""

    def make() -> str:
        name = f"chat_{secrets.token_hex(6)}"
        with psycopg.connect(postgres_server.format("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return postgres_server.format(name)

    return make


@pytest.fixture
async def store(store_url: str) -> AsyncIterator[ChatStore]:
    """An empty store."""
    async with open_store(store_url) as opened:
        yield opened
