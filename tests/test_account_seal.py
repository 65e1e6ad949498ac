"""What the account seals is known to all of its processes and to no other."""

import errno
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from stores import opened
from ui_mcp import account_seal
from ui_mcp.account_seal import is_sealed, seal
from ui_mcp.gateway.approvals.store import open_store
from ui_mcp.gateway.config.settings import Rule


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.mark.covers("UI-TRUST-1")
def test_of_processes_that_begin_at_once_all_use_one_key(home: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        seals = set(threads.map(lambda _: seal("a", b"b"), range(32)))

    assert len(seals) == 1
    assert [file.name for file in account_seal.key_file().parent.iterdir()] == ["seal.key"]
    assert stat.S_IMODE(account_seal.key_file().stat().st_mode) == 0o600


@pytest.mark.covers("UI-TRUST-1")
def test_a_disk_without_hard_links_keeps_a_key_too(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr("os.link", refused)

    assert seal("a") == seal("a")
    assert [file.name for file in account_seal.key_file().parent.iterdir()] == ["seal.key"]


@pytest.mark.covers("UI-TRUST-1")
@pytest.mark.parametrize("home", ["/dev/null", "~"])
async def test_without_a_home_to_keep_a_key_in_the_store_opens_and_asks_again(
    home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.path.expanduser", lambda path: path.replace("~", home, 1))
    for _ in range(2):
        async with opened(open_store, str(tmp_path / "approvals.db")) as store:
            assert await store.rules() == []
            await store.add_rule(Rule(tool="a", decision="allow"), "me", "1")
            assert len(await store.rules()) == 1


@pytest.mark.covers("UI-TRUST-1")
def test_a_seal_is_for_exactly_these_parts_and_this_account(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = seal("a", b"bc")

    assert is_sealed(given, "a", b"bc")
    assert not any(is_sealed(given, *parts) for parts in (("ab", b"c"), ("a", b"bd"), ("a",)))
    assert not any(is_sealed(wrong, "a", b"bc") for wrong in (None, 5, "", given.upper()))
    monkeypatch.setenv("HOME", str(home / "another"))
    assert not is_sealed(given, "a", b"bc")
    monkeypatch.setenv("HOME", "/dev/null")
    assert not is_sealed(given, "a", b"bc")
