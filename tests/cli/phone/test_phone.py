"""`ui-mcp phone`: it acts for the person alone, and shows, lists and revokes."""

import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

from ui_mcp.app.commands import phone
from ui_mcp.app.commands.phone import list_phones, pair_phone, revoke_phones
from ui_mcp.config import Config
from ui_mcp.errors import InvalidArgumentsError, NotFoundError, RefusedError
from ui_mcp.inbox.phone.devices import Devices
from ui_mcp.phone_settings import PhoneSettings


class Terminal(StringIO):
    """A terminal that stays readable after it was closed."""

    def close(self) -> None: ...


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Terminal:
    shown = Terminal()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(phone, "has_terminal", lambda: True)
    monkeypatch.setattr(phone, "open_terminal", lambda _: shown)
    return shown


@pytest.mark.covers("INBOX-10")
def test_without_a_terminal_no_phone_is_shown_paired_or_revoked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phone, "has_terminal", lambda: False)
    with pytest.raises(RefusedError):
        pair_phone(".")
    with pytest.raises(RefusedError):
        list_phones()
    with pytest.raises(RefusedError):
        revoke_phones((), every=True)


@pytest.mark.covers("INBOX-10")
def test_a_qr_code_on_the_terminal_pairs_a_phone_that_is_listed_and_revoked(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InvalidArgumentsError, match="Phones are off"):
        pair_phone(str(tmp_path))
    on = Config(phone=PhoneSettings(url="https://Phone.example/"))
    monkeypatch.setattr("ui_mcp.config.load", lambda _: on)
    pair_phone(str(tmp_path))
    shown = terminal.getvalue()
    code = shown.partition("/inbox#code=")[2].split()[0]
    Devices().exchange(code, "https://phone.example", "Firefox/150 (Android)")
    (listed,) = list_phones()
    with pytest.raises(NotFoundError):
        revoke_phones(["zz"], every=False)
    gone = revoke_phones([listed[:6]], every=False)

    assert "█" in shown or "▄" in shown
    assert "https://phone.example/inbox#code=" in shown
    assert listed[12:].startswith("  Firefox on Android  https://phone.example  paired ")
    assert gone == [f"Revoked: Firefox on Android ({listed[:12]})"]
    assert list_phones() == ["No phone is paired."]


def test_the_command_works_without_the_packages_that_only_pairing_needs() -> None:
    code = 'import sys; sys.modules["segno"] = sys.modules["cryptography"] = None; import ui_mcp.app.commands.phone'

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)

    assert (done.returncode, done.stderr) == (0, "")
