"""Sign-ins in a real keyring: GNOME's, on a message bus of its own."""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from needs import missing
from oauth.test_store import HELD
from ui_mcp.oauth.store import TokenStore

PROGRAMS = ("dbus-run-session", "gnome-keyring-daemon")
UNLOCKED = 'printf secret | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1; exec "$@"'
SAVE = """
import sys, anyio
from pathlib import Path
from oauth.test_store import HELD
from ui_mcp.oauth.store import TokenStore
store = TokenStore(Path(sys.argv[1]))
anyio.run(store.save, "k", HELD)
assert anyio.run(store.load, "k") == HELD
"""
DELETE = """
import sys, anyio, keyring
from pathlib import Path
from oauth.test_store import HELD
from ui_mcp.oauth.store import SERVICE, TokenStore
store = TokenStore(Path(sys.argv[1]))
assert "access-secret" in (keyring.get_password(SERVICE, "k") or "")
assert anyio.run(store.load, "k") == HELD, "another process does not find it"
anyio.run(store.delete, "k")
assert keyring.get_password(SERVICE, "k") is None
"""


def in_session(home: Path, *programs: str) -> None:
    """Run Python programs one after the other, each with the folder of the sign-ins, on one bus with a keyring."""
    steps = " && ".join(f'"$1" -c \'{program}\' "$2"' for program in programs)
    tests = Path(__file__).parents[1]
    environment = {**os.environ, "HOME": str(home), "XDG_DATA_HOME": str(home / "share"), "PYTHONPATH": str(tests)}
    command = ["dbus-run-session", "--", "sh", "-c", UNLOCKED, "sh", "sh", "-c", steps, "sh"]
    subprocess.run([*command, sys.executable, str(home / "sign-ins")], env=environment, check=True, timeout=50)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for program in PROGRAMS:
        if shutil.which(program) is None:
            missing(program)
    if find_spec("keyring") is None:
        missing("The package keyring")
    return tmp_path


def kept(home: Path) -> str:
    return "".join(file.read_text(errors="replace") for file in home.rglob("*") if file.is_file())


@pytest.mark.slow
@pytest.mark.covers("GW-SIGN-4")
def test_another_process_finds_the_tokens_in_the_keyring_and_forgets_them(home: Path) -> None:
    in_session(home, SAVE, DELETE)


@pytest.mark.slow
@pytest.mark.covers("GW-SIGN-4")
async def test_no_file_holds_the_tokens_in_clear_and_without_the_keyring_none_is_had(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_session(home, SAVE)
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(home))
    found = await TokenStore(home / "sign-ins").load("k")

    assert not [secret for secret in ("access-secret", "refresh-secret", "client-secret") if secret in kept(home)]
    assert found is not None
    assert (found.url, found.tokens.access) == (HELD.url, "")
    assert "keyring" in found.problem
