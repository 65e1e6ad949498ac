"""ntfy, a webhook and e-mail, each against a server: what arrives there, what a busy or refusing one gets, and TLS."""

import json
from collections.abc import AsyncIterator
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import anyio
import pytest

from notice_servers import MAIL_HOST, MailServer, certified, http_taker, mail_server
from ports import free_ports
from servers import running_server
from ui_mcp.errors import UpstreamError
from ui_mcp.inbox.phone import channels
from ui_mcp.inbox.phone.channels import Email, Ntfy, Webhook
from ui_mcp.inbox.phone.notices import Channel, Notice
from ui_mcp.inbox.service import inbox_url, opened
from ui_mcp.ui.states import Running

pytestmark = [
    pytest.mark.covers("INBOX-12"),
    # The server cannot know that the connection around it is encrypted already.
    pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS:UserWarning"),
]
NOTICE = Notice("a", "permission", 2e9, "Claude Code", "https://phone.example/inbox#link=abc")
WORDS = "Claude Code asks for your permission"


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channels, "PAUSE_SECONDS", 0)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    made = certified(tmp_path, MAIL_HOST)
    monkeypatch.setenv("SSL_CERT_FILE", str(made[0]))
    return made


@pytest.fixture(params=["smtps", "smtp"])
async def mail(request: pytest.FixtureRequest, files: tuple[Path, Path]) -> AsyncIterator[tuple[str, MailServer]]:
    async with mail_server(files, MAIL_HOST, tls_first=request.param == "smtps") as server:
        yield f"{request.param}://ada@{MAIL_HOST}:{server.port}", server


def read(letter: bytes | str | None) -> EmailMessage:
    assert isinstance(letter, bytes)
    message = message_from_bytes(letter, policy=policy.default)
    assert isinstance(message, EmailMessage)
    return message


async def test_ntfy_gets_the_words_as_text_and_the_link_as_what_a_tap_opens() -> None:
    with http_taker() as server:
        await Ntfy(f"{server.url}/topic", "tk_1").send(NOTICE)
        await Ntfy(f"{server.url}/topic").send(Notice("b", "call", 2e9))
    (path, headers, body), (_, bare, _) = server.got

    assert (path, body.decode()) == ("/topic", WORDS)
    assert (headers["title"], headers["click"], headers["authorization"]) == ("ui-mcp", NOTICE.link, "Bearer tk_1")
    assert not {"click", "authorization"} & set(bare)


async def test_a_webhook_gets_json() -> None:
    with http_taker() as server:
        await Webhook(f"{server.url}/hook?key=1").send(NOTICE)
    ((path, headers, body),) = server.got

    assert (path, headers["content-type"]) == ("/hook?key=1", "application/json")
    assert json.loads(body) == {"text": WORDS, "link": NOTICE.link, "kind": "permission", "expires_at": 2e9}


@pytest.mark.parametrize(("statuses", "asked"), [((503, 429, 200), 3), ((503, 503, 503), 3), ((403,), 1), ((302,), 1)])
async def test_a_busy_service_is_asked_again_and_a_refusal_is_an_error(statuses: tuple[int, ...], asked: int) -> None:
    with http_taker(*statuses) as server:
        if statuses[-1] == 200:
            await Webhook(server.url).send(NOTICE)
        else:
            with pytest.raises(UpstreamError, match=f"the webhook answered {statuses[-1]}"):
                await Webhook(server.url).send(NOTICE)

    assert len(server.got) == asked


async def test_mail_goes_by_tls_with_the_password_and_says_who_waits(mail: tuple[str, MailServer]) -> None:
    address, server = mail
    await Email(address, "ada@example.com", "right").send(NOTICE)
    (letter,) = server.letters
    message = read(letter.content)

    assert (server.encrypted, server.logins) == ([True], [("ada", "right")])
    assert (letter.rcpt_tos, message["To"]) == (["ada@example.com"], "ada@example.com")
    assert (message["Subject"], message["From"]) == (f"ui-mcp: {WORDS}", f"ada@{MAIL_HOST}")
    assert message.get_content().splitlines() == [f"{WORDS}.", "", NOTICE.link]


async def test_a_refused_password_and_an_unknown_certificate_are_errors_and_send_nothing(
    mail: tuple[str, MailServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, server = mail
    with pytest.raises(UpstreamError, match="SMTPAuthenticationError"):
        await Email(address, "ada@example.com", "wrong").send(NOTICE)
    monkeypatch.delenv("SSL_CERT_FILE")
    with pytest.raises(UpstreamError, match="SSLCertVerificationError"):
        await Email(address, "ada@example.com", "right").send(NOTICE)

    assert server.letters == []
    assert set(server.logins) == {("ada", "wrong")}, "no password to a server that is not the one that was named"


async def test_a_mail_server_that_is_busy_is_asked_again(mail: tuple[str, MailServer]) -> None:
    address, server = mail
    server.answers = ["451 Try again later", "451 Try again later"]
    await Email(address, "ada@example.com", "right").send(NOTICE)
    server.answers = ["554 No", "554 No"]
    with pytest.raises(UpstreamError, match="SMTPDataError"):
        await Email(address, "ada@example.com", "right").send(NOTICE)

    assert (len(server.letters), server.answers) == (1, ["554 No"])


@pytest.mark.parametrize("scheme", ["http", "smtp"])
async def test_a_service_that_is_away_for_a_moment_is_reached_later(
    scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (port,) = free_ports(1)
    url = f"{scheme}://127.0.0.1:{port}"
    channel: Channel = Webhook(url) if scheme == "http" else Email(url, "ada@example.com")
    pauses: list[int] = []

    async def pause(attempt: int) -> None:
        pauses.append(attempt)

    monkeypatch.setattr(channels, "pause", pause)
    with pytest.raises(UpstreamError):
        await channel.send(NOTICE)

    assert pauses == [1, 2]


async def ask(running: Running, command: str) -> None:
    async with opened(inbox_url(running.config, running.workspace)) as inbox:
        body = {"tool": "Bash", "arguments": {"command": command}}
        title = f"Claude Code wants to run a command: {command}"
        await inbox.ask(inbox.new("permission", title, body, source="hook", agent="Claude Code", lifetime=600))


@pytest.mark.slow
async def test_a_server_tells_each_channel_once_of_each_question_and_not_again_after_a_restart(
    tmp_path: Path, files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("UI_SMTP_PASSWORD", "right")
    with http_taker() as ntfy, http_taker() as hook:
        async with mail_server(files, MAIL_HOST, tls_first=True) as mail:
            given: dict[str, Any] = {
                "phone__ntfy": f"{ntfy.url}/topic",
                "phone__webhook": hook.url,
                "phone__email": "ada@example.com",
                "phone__smtp": f"smtps://ada@{MAIL_HOST}:{mail.port}",
            }
            for command in ("echo hunter2", "echo again"):
                async with running_server(tmp_path, **given) as running:
                    await ask(running, command)
                    known = len(mail.letters)
                    with anyio.fail_after(50):
                        while min(len(ntfy.got), len(hook.got), len(mail.letters)) == known:
                            await anyio.sleep(0.05)
    bodies = [body for _, _, body in (*ntfy.got, *hook.got)] + [read(one.content).as_bytes() for one in mail.letters]

    assert [len(ntfy.got), len(hook.got), len(mail.letters)] == [2, 2, 2]
    assert all(WORDS.encode() in body and b"hunter2" not in body and b"again" not in body for body in bodies)
    assert "click" not in ntfy.got[0][1], "without phone.url no other device can open the question"
