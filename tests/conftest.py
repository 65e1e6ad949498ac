"""What holds for every test."""

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

_PROGRAMS = frozenset(
    {
        "cli",
        "conformance",
        "contracts",
        "docs",
        "compat",
        "e2e",
        "examples",
        "fuzz",
        "hosts",
        "integration",
        "journeys",
        "packaging",
        "scripts",
        "security",
        "soak",
    }
)
"""Folders whose tests start servers, browsers, JVMs or other people's programs."""
_PROGRAM_SECONDS = 300
_QUICK_EXAMPLES = 25
_WAITS = re.compile(r"builtins\.input|os\.(read|write)|time\.sleep|(socket|sqlite3|ssl)\..*")
"""Functions that may wait for a process or for the network.

Small files may be read on the event loop. Locks are left out: another thread often holds one for a moment.
"""
_MAY_WAIT = (
    ("jsonrpc/pipes.py", "_read"),  # the pipe is ready by then; it is blocking because other processes use it too
    ("jsonrpc/pipes.py", "_write_some"),
    ("storage/sqlite.py", "_version"),  # reads shared memory
    ("subprocess.py", "_execute_child"),  # takes as long as a fork and an exec
    ("webserver/peer_uid.py", "_by_netlink"),  # the kernel answers at once
    ("ui/sessions/record.py", "_append"),  # one line into a file
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--quick", action="store_true", help="skip slow tests and those that need other programs, with fewer examples"
    )


def pytest_configure(config: pytest.Config) -> None:
    # The same examples in every run, however slow: a failure tells of a change, not of luck or of a busy machine.
    # Others are drawn by `pytest --hypothesis-profile=default`.
    settings.register_profile("quick", settings.get_profile("ci"), max_examples=_QUICK_EXAMPLES)
    settings.load_profile("quick" if config.getoption("quick") else "ci")
    if config.getoption("quick"):
        config.addinivalue_line("filterwarnings", "error")
    # Servers that clients share end with the last client, instead of seconds later.
    os.environ.setdefault("UI_LINGER", "0")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Spare a quick run the imports of tests that it would leave out."""
    return True if config.getoption("quick") and _folder(collection_path) in _PROGRAMS else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give tests with real programs a longer limit, where they have none of their own; choose the quick ones."""
    for item in items:
        if _folder(item.path) in _PROGRAMS and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(_PROGRAM_SECONDS))
    if config.getoption("quick"):
        config.hook.pytest_deselected(items=[item for item in items if not _is_quick(item)])
        items[:] = filter(_is_quick, items)


def _folder(path: Path) -> str:
    return next(iter(path.relative_to(Path(__file__).parent).parts), "")


def _is_quick(item: pytest.Item) -> bool:
    """Whether a test is neither marked as slow nor needs a PostgreSQL server, by a fixture or by a parameter."""
    called = getattr(item, "callspec", None)
    chosen = [value for value in called.params.values() if isinstance(value, str)] if called else []
    needs = {*getattr(item, "fixturenames", ()), *chosen}
    return item.get_closest_marker("slow") is None and needs.isdisjoint({"postgres", "postgres_url"})


@pytest.fixture(scope="session", autouse=True)
def own_directories(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the developer's own settings, credentials and data out of the tests, and the tests out of them.

    The key of `account_seal` is shared with the account: it has one fixed place, and nothing but a key is in it.
    Child processes inherit the variables; XDG_CACHE_HOME is left alone because Playwright's browsers are found there.
    """
    home = tmp_path_factory.mktemp("account")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("CONFIG", "STATE", "DATA"):
            patch.setenv(f"XDG_{name}_HOME", str(home / name.lower()))
        yield


@pytest.fixture(autouse=True)
def event_loop_never_waits(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let our blocking calls on the event loop raise BlockingError, except where programs are tested from outside."""
    with ExitStack() as stack:
        for function in () if _folder(request.path) in _PROGRAMS else _waiting_functions():
            function.activate()
            stack.callback(function.deactivate)
        yield


@cache
def _waiting_functions() -> list[Any]:
    if find_spec("blockbuster") is None:
        if os.environ.get("CI"):
            pytest.fail("blockbuster is missing")
        return []  # an environment from before it was needed
    guard = import_module("blockbuster").BlockBuster("ui_mcp")
    found = [function for name, function in guard.functions.items() if _WAITS.fullmatch(name)]
    for function in found:
        for file, name in _MAY_WAIT:
            function.can_block_in(file, name)
    return found
