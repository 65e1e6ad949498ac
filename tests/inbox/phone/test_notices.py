"""Notices: once for each question, in words that anybody may read, through every channel that works."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from ui_mcp.errors import UpstreamError
from ui_mcp.inbox.phone.devices import NoticeLinks
from ui_mcp.inbox.phone.notices import Notice, Notifier, Told, links_at, notice_of
from ui_mcp.inbox.service import opened


class Collecting:
    """A channel that keeps what it gets."""

    name = "collecting"

    def __init__(self) -> None:
        self.got: list[Notice] = []

    async def send(self, notice: Notice) -> None:
        self.got.append(notice)


class Broken:
    """A channel that never works."""

    name = "broken"

    async def send(self, notice: Notice) -> None:
        raise UpstreamError("no")


def notifier(waiting: Sequence[Notice], folder: Path, *channels: Collecting | Broken) -> Notifier:
    async def now() -> Sequence[Notice]:
        return waiting

    return Notifier(now, channels, Told(folder / "told.json"), links_at("https://phone.example", NoticeLinks(folder)))


@pytest.mark.covers("INBOX-12")
async def test_each_question_is_told_once_also_after_a_restart_and_beside_a_broken_channel(tmp_path: Path) -> None:
    waiting = [Notice("a", "permission", 2e9, "Claude Code")]
    channel = Collecting()
    before = notifier(waiting, tmp_path, Broken(), channel)
    await before.look()
    await before.look()
    waiting.append(Notice("b", "form", 2e9, "Codex"))
    await notifier(waiting, tmp_path, channel).look()

    assert [(one.id, one.text) for one in channel.got] == [
        ("a", "Claude Code asks for your permission"),
        ("b", "Codex has a question"),
    ]


@pytest.mark.covers("INBOX-12")
async def test_every_channel_gets_a_link_of_its_own_that_opens_the_question(tmp_path: Path) -> None:
    one, other = Collecting(), Collecting()
    await notifier([Notice("a", "call", 2e9)], tmp_path, one, other).look()
    (first,), (second,) = one.got, other.got
    links = NoticeLinks(tmp_path)

    assert first.link != second.link
    assert links.redeem(first.link.removeprefix("https://phone.example/inbox#link=")) == "a"
    assert links.redeem(second.link.rpartition("=")[2]) == "a"


@pytest.mark.covers("INBOX-12")
async def test_neither_words_nor_arguments_leave_the_machine(tmp_path: Path) -> None:
    async with opened(str(tmp_path / "inbox.db")) as inbox:
        secret = {"tool": "Bash", "arguments": {"command": "echo hunter2"}}
        title = "Claude wants to run echo hunter2"
        asked = inbox.new("permission", title, secret, source="claude-code", agent="Claude Code", lifetime=60)
    notice = notice_of(asked)

    assert notice.text == "Claude Code asks for your permission"
    assert "hunter2" not in repr(notice)


@pytest.mark.parametrize(
    ("agent", "text"),
    [
        ("", "An agent has a question"),
        ("evil\r\nBcc: all@example.com", "evil Bcc: all@example.com has a question"),
        ("a" * 200, f"{'a' * 39}… has a question"),
        ("\u202eegnahc", "egnahc has a question"),
    ],
)
def test_a_name_cannot_break_out_of_its_line(agent: str, text: str) -> None:
    assert Notice("a", "form", 2e9, agent).text == text
