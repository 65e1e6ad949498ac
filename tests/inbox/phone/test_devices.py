"""Paired phones: codes for one use, revoking, and links of notifications."""

from pathlib import Path

import pytest

from ui_mcp.inbox.phone.devices import Devices, NoticeLinks, Subscription, device_name
from ui_mcp.person import PersonKeys

ORIGIN = "https://phone.example"
PIXEL = "Mozilla/5.0 (Linux; Android 16; Pixel 9) AppleWebKit/537.36 Chrome/150.0.0.0 Mobile Safari/537.36"
IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1 Version/19.0 Mobile/15E Safari/604.1"
PUSH = Subscription("https://fcm.googleapis.com/1", "key", "auth")


@pytest.fixture
def devices(tmp_path: Path) -> Devices:
    return Devices(tmp_path)


def paired(devices: Devices, client: str = PIXEL) -> str:
    credential = devices.exchange(devices.new_code(), ORIGIN, client)
    assert credential
    return credential


@pytest.mark.covers("INBOX-10")
def test_a_code_pairs_one_phone_once(devices: Devices) -> None:
    code = devices.new_code()
    first, second = devices.exchange(code, ORIGIN, PIXEL), devices.exchange(code, ORIGIN, PIXEL)

    assert first
    assert second is None
    assert devices.recognises(first, ORIGIN)
    assert not devices.recognises(first, "https://other.example")
    assert [one.name for one in devices.listed()] == ["Chrome on Android"]


@pytest.mark.covers("INBOX-10")
def test_a_code_is_old_after_ten_minutes(tmp_path: Path) -> None:
    code = Devices(tmp_path).new_code()
    late = (tmp_path / "codes").glob("*").__next__().stat().st_mtime + 601

    assert Devices(tmp_path, lambda: late).exchange(code, ORIGIN, PIXEL) is None


@pytest.mark.covers("INBOX-10")
def test_codes_of_phones_and_of_the_computers_browser_open_nothing_of_each_other(tmp_path: Path) -> None:
    devices, keys = Devices(tmp_path / "phone"), PersonKeys(tmp_path / "person")

    assert keys.exchange(devices.new_code(), "8002") is None
    assert devices.exchange(keys.new_code(), ORIGIN, PIXEL) is None


@pytest.mark.covers("INBOX-10")
def test_a_revoked_phone_is_unknown_and_gets_no_push(devices: Devices) -> None:
    lost, kept = paired(devices, PIXEL), paired(devices, IPHONE)
    gone = next(one for one in devices.listed() if one.name == "Chrome on Android")
    devices.subscribe(gone.id, PUSH)

    devices.revoke(gone.id)
    devices.subscribe(gone.id, PUSH)  # a late message of its browser

    assert not devices.recognises(lost, ORIGIN)
    assert devices.recognises(kept, ORIGIN)
    assert [(one.name, one.push) for one in devices.listed()] == [("Safari on iPhone", None)]
    assert devices.revoke(gone.id) is None


@pytest.mark.covers("INBOX-10")
def test_a_phone_that_is_not_used_for_a_month_is_unpaired(tmp_path: Path) -> None:
    credential = paired(Devices(tmp_path))
    late = Devices(tmp_path).listed()[0].used_at + 31 * 86_400

    assert not Devices(tmp_path, lambda: late).recognises(credential, ORIGIN)
    assert Devices(tmp_path).listed() == []


@pytest.mark.covers("INBOX-10")
def test_no_secret_of_a_phone_is_kept_in_the_clear(devices: Devices, tmp_path: Path) -> None:
    code, link = devices.new_code(), NoticeLinks(tmp_path).new("question", 2e9)
    credential = paired(devices)
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    kept = " ".join(f"{file} {file.read_text()}" for file in files)

    assert not any(secret in kept for secret in (code, code.replace("-", ""), link, credential))
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}


@pytest.mark.covers("INBOX-12")
def test_a_link_leads_to_its_question_once_and_until_it_expires(tmp_path: Path) -> None:
    now = 1000.0
    links = NoticeLinks(tmp_path, lambda: now)
    soon, later, unused = links.new("a", 1010), links.new("b", 2e9), links.new("c", 2e9)

    assert (links.redeem(later), links.redeem(later)) == ("b", None)
    now = 1010.0
    assert links.redeem(soon) is None
    now = 1000.0 + 86_400
    assert links.redeem(unused) is None
    assert links.redeem("made up") is None


@pytest.mark.parametrize(
    ("client", "name"),
    [
        (PIXEL, "Chrome on Android"),
        (IPHONE, "Safari on iPhone"),
        ("Mozilla/5.0 (iPhone) FxiOS/150 Mobile Safari/604.1", "Firefox on iPhone"),
        ("Mozilla/5.0 (Macintosh) Chrome/150.0 Safari/537.36 Edg/150.0", "Edge on Mac"),
        ("curl/8", "A device"),
        ("", "A device"),
    ],
)
def test_a_phone_is_named_by_its_browser(client: str, name: str) -> None:
    assert device_name(client) == name
