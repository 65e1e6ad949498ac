"""Becoming the person: codes are good once, credentials outlive a restart, both are for this account alone."""

import stat
from pathlib import Path

import pytest

from ui_mcp.person import CODE_SECONDS, IDLE_SECONDS, PersonKeys, listener_ports, registered_listener


@pytest.fixture
def keys(tmp_path: Path) -> PersonKeys:
    return PersonKeys(tmp_path / "person")


def test_a_code_lets_one_browser_in_once(keys: PersonKeys) -> None:
    code = keys.new_code()

    credential = keys.exchange(code)

    assert keys.recognises(credential)
    assert keys.exchange(code) is None


def test_a_code_may_be_typed_in_small_letters_without_dashes(keys: PersonKeys) -> None:
    assert keys.exchange(keys.new_code().lower().replace("-", " ")) is not None


@pytest.mark.parametrize("wrong", ["", "ABCD", "../../x", "\0", "ä" * 5000, "\ud800"])
def test_a_wrong_code_is_refused(keys: PersonKeys, wrong: str) -> None:
    assert keys.exchange(wrong) is None
    assert not keys.recognises(wrong)


def test_an_old_code_is_spent(tmp_path: Path) -> None:
    now = [0.0]
    keys = PersonKeys(tmp_path, lambda: now[0])
    code = keys.new_code()
    now[0] = (next((tmp_path / "codes").glob("*")).stat().st_mtime) + CODE_SECONDS + 1

    assert keys.exchange(code) is None


def test_a_credential_outlives_the_process_and_ends_after_a_month_without_use(tmp_path: Path) -> None:
    credential = PersonKeys(tmp_path).exchange(PersonKeys(tmp_path).new_code())
    used = next((tmp_path / "credentials").glob("*")).stat().st_mtime

    assert PersonKeys(tmp_path).recognises(credential)
    assert not PersonKeys(tmp_path, lambda: used + IDLE_SECONDS + 1).recognises(credential)
    assert not PersonKeys(tmp_path).recognises(credential)


def test_no_secret_is_kept_in_the_clear_and_nobody_else_may_look(tmp_path: Path) -> None:
    keys = PersonKeys(tmp_path / "person")
    code = keys.new_code()
    credential = keys.exchange(keys.new_code()) or ""
    files = [file for file in tmp_path.rglob("*") if file.is_file()]

    assert len(files) == 2
    assert not any(code in file.name + file.read_text() or credential in file.name + file.read_text() for file in files)
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in files)
    assert all(stat.S_IMODE(file.parent.stat().st_mode) == 0o700 for file in files)


def test_signing_out_ends_the_credential(keys: PersonKeys) -> None:
    one, other = keys.exchange(keys.new_code()) or "", keys.exchange(keys.new_code()) or ""

    keys.forget(one)

    assert not keys.recognises(one)
    assert keys.forget_all() == 1
    assert not keys.recognises(other)


def test_listeners_are_known_while_their_process_lives(tmp_path: Path) -> None:
    (tmp_path / "9").write_text("999999999")
    with registered_listener(8123, tmp_path):
        assert listener_ports(tmp_path) == {8123}
    assert listener_ports(tmp_path) == frozenset()


def test_a_credential_is_good_only_at_the_listener_that_gave_it_and_ends_when_other_pages_are_served_there(
    keys: PersonKeys,
) -> None:
    here, there = (keys.exchange(keys.new_code(), listener) for listener in ("8002", "40001"))

    assert keys.recognises(here, "8002")
    assert not keys.recognises(here, "40001")
    keys.forget_listener("8002")
    assert not keys.recognises(here, "8002")
    assert keys.recognises(there, "40001")
