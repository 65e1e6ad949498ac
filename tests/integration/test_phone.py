"""A phone at a running server: paired by a code, notified by push, answers once, and only over HTTPS."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from anyio import to_thread

from person_client import HTML, let_in
from phone_client import ORIGIN, PushService, paired_phone, phone_headers, push_service
from ports import free_ports
from servers import running_server
from ui_mcp.inbox.model import Question
from ui_mcp.inbox.service import inbox_url, opened
from ui_mcp.person import PersonKeys
from ui_mcp.ui.states import Running

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


@pytest.fixture
def push() -> Iterator[PushService]:
    with push_service() as service:
        yield service


@pytest.fixture(autouse=True)
def no_phones(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def port() -> int:
    return free_ports(1)[0]


@asynccontextmanager
async def served(folder: Path, port: int, push: PushService, **flags: Any) -> AsyncIterator[Running]:
    given = {"phone__url": ORIGIN, "phone__port": port, "phone__push_services": (push.url,), **flags}
    async with running_server(folder, **given) as running:
        yield running


async def asked(running: Running) -> Question:
    async with opened(inbox_url(running.config, running.workspace)) as inbox:
        body = {"tool": "Bash", "arguments": {"command": "echo hunter2"}}
        title = "Claude Code wants to run a command: echo hunter2"
        new = inbox.new("permission", title, body, source="claude-code", agent="Claude Code", lifetime=600)
        return await inbox.ask(new)


async def in_thread(call: Any, *arguments: Any, **named: Any) -> Any:
    return await to_thread.run_sync(lambda: call(*arguments, **named))


@pytest.mark.covers("INBOX-9", "INBOX-10", "INBOX-11", "INBOX-12", "INBOX-2")
async def test_a_question_reaches_the_phone_and_is_answered_once_after_a_restart(
    tmp_path: Path, port: int, push: PushService
) -> None:
    async with served(tmp_path, port, push) as first:
        phone = await in_thread(paired_phone, port)
        assert (await in_thread(phone.put, "/push", json=push.subscription())).json() == {"on": True}
        question = await asked(first)
        message, headers = await in_thread(push.received), push.headers.get_nowait()
    async with AsyncExitStack() as stack:
        second = await stack.enter_async_context(served(tmp_path, port, push))
        stack.callback(phone.close)
        token = message["link"].removeprefix(f"{ORIGIN}/inbox#link=")
        # The nonce is from before the restart; the page gets a new one by itself.
        phone.headers["x-ui-nonce"] = (await in_thread(phone.get, "/person/nonce")).json()["nonce"]
        opens = [await in_thread(phone.post, "/notices/open", json={"link": token}) for _ in range(2)]
        still_open = (await in_thread(phone.get, "/inbox")).json()["questions"]
        path, person = f"/inbox/{question.id}/answer", await in_thread(let_in, second.person_url)
        taps = [await in_thread(phone.post, path, json={"decision": one}) for one in ("deny", "allow")]
        at_computer = await in_thread(
            httpx2.post, f"{second.person_url}{path}", json={"decision": "allow"}, headers=person
        )

    assert {name: message[name] for name in ("title", "body")} == {
        "title": "ui-mcp",
        "body": "Claude Code asks for your permission",
    }
    assert "hunter2" not in str(message)
    assert (headers["content-encoding"], headers["urgency"], headers["authorization"][:8]) == (
        "aes128gcm", "high", "vapid t=",
    )  # fmt: skip
    assert [(one.status_code, one.json().get("id")) for one in opens] == [(200, question.id), (410, None)]
    assert [one["id"] for one in still_open] == [question.id], "opening a link decides nothing"
    assert [one.status_code for one in (*taps, at_computer)] == [200, 409, 409]
    assert taps[0].json()["status"] == "declined"
    assert push.sealed.empty(), "nobody is told twice"


@pytest.mark.covers("INBOX-9")
async def test_phones_are_off_by_default_and_the_persons_listener_is_on_loopback(tmp_path: Path) -> None:
    wide: dict[str, Any] = {
        "server__host": "0.0.0.0",
        "server__require_token": True,
        "server__allowed_hosts": ("box.example",),
    }
    async with running_server(tmp_path, **wide) as running:
        person = await in_thread(let_in, running.person_url)
        listed = await in_thread(httpx2.get, f"{running.person_url}/phones", headers=person)
        refused = await in_thread(httpx2.post, f"{running.person_url}/phones/pair", headers=person)

    assert running.person_url.startswith("http://127.0.0.1:")
    assert listed.json() == {"url": None, "devices": []}
    assert (refused.status_code, refused.json()["error"]["message"]) == (400, "Phones are off: set phone.url")


@pytest.mark.covers("CHAT-FILE-4")
async def test_a_photo_is_sent_from_the_phone(tmp_path: Path, port: int, push: PushService) -> None:
    photo = b"\x89PNG\r\n\x1a\n" + bytes(3_000_000)
    async with served(tmp_path, port, push) as running:
        phone = await in_thread(paired_phone, port)
        with phone:
            stored = (await in_thread(phone.post, "/chat/attachments", params={"name": "p.png"}, content=photo)).json()
            text = f"[p.png](attachment:{stored['id']})"
            sent = await in_thread(phone.post, "/chat/messages", json={"content": text})
        person = await in_thread(let_in, running.person_url)
        seen = await in_thread(httpx2.get, f"{running.person_url}/chat/attachments/{stored['id']}", headers=person)
        page = await in_thread(httpx2.get, f"{running.url}/chat/attachments/{stored['id']}")

    assert (sent.status_code, stored["mime"]) == (201, "image/png")
    assert (seen.content, seen.headers["content-type"]) == (photo, "image/png")
    assert page.status_code == 401, "a page without the session's cookie reads no files"


@pytest.mark.covers("INBOX-9")
async def test_the_listener_for_phones_takes_its_own_https_origin_alone(
    tmp_path: Path, port: int, push: PushService
) -> None:
    async with served(tmp_path, port, push):
        phone = await in_thread(paired_phone, port)
        with phone:
            own = dict(phone.headers)
            statuses = {
                name: (await in_thread(phone.post, "/push", headers=headers)).status_code
                for name, headers in {
                    "another host": {"host": f"127.0.0.1:{port}"},
                    "http": {"origin": "http://phone.example"},
                    "another origin": {"origin": "https://evil.example"},
                    "another site": {"sec-fetch-site": "cross-site"},
                }.items()
            }
            without = [
                (await in_thread(phone.put, "/push", json=push.subscription(), headers=headers)).status_code
                for headers in ({"x-ui-nonce": "made up"}, {"x-ui-person": "made up"}, {"user-agent": "ui-mcp-eyes"})
            ]
            computers_own = ["/settings", "/console", "/apps", "/sign-ins", "/phones", "/hand-over"]
            absent = {path: (await in_thread(phone.get, path)).status_code for path in computers_own}

    assert own["x-ui-person"]
    assert statuses == {"another host": 421, "http": 403, "another origin": 403, "another site": 403}
    assert without == [409, 401, 403]
    assert set(absent.values()) == {404}, "settings, console and accounts stay on the computer"


@pytest.mark.covers("INBOX-10")
async def test_a_phone_is_paired_by_a_qr_code_once_and_revoked_at_the_computer(
    tmp_path: Path, port: int, push: PushService
) -> None:
    async with served(tmp_path, port, push) as running:
        computer = httpx2.Client(base_url=running.person_url, headers=await in_thread(let_in, running.person_url))
        with computer:
            made = (await in_thread(computer.post, "/phones/pair", json={})).json()
            page = await in_thread(
                httpx2.get, f"http://127.0.0.1:{port}/inbox", headers=HTML | {"host": "phone.example"}
            )
            nonce = page.text.partition('name="ui-nonce" content="')[2].partition('"')[0]
            enter = f"http://127.0.0.1:{port}/person/enter"
            tries = [
                await in_thread(httpx2.post, enter, json={"code": code}, headers=phone_headers(nonce=nonce))
                for code in (PersonKeys().new_code(), made["code"], made["code"])
            ]
            phone = phone_headers(nonce=nonce, credential=tries[1].json()["credential"])
            elsewhere = await in_thread(computer.get, "/inbox", headers={"x-ui-person": phone["x-ui-person"]})
            (device,) = (await in_thread(computer.get, "/phones")).json()["devices"]
            before = await in_thread(httpx2.get, f"http://127.0.0.1:{port}/inbox", headers=phone)
            left = (await in_thread(computer.post, f"/phones/{device['id']}/revoke", json={})).json()["devices"]
            again = await in_thread(computer.post, f"/phones/{device['id']}/revoke", json={})
            after = await in_thread(httpx2.get, f"http://127.0.0.1:{port}/inbox", headers=phone)

    assert made["link"] == f"{ORIGIN}/inbox#code={made['code']}"
    assert made["qr"].startswith("data:image/svg+xml")
    assert [one.status_code for one in tries] == [401, 200, 401], "codes of the computer pair nothing"
    assert elsewhere.status_code == 401, "the phone's credential opens nothing at the computer's listener"
    assert (device["name"], device["push"], left) == ("Chrome on Android", False, [])
    assert (before.status_code, after.status_code, again.status_code) == (200, 401, 404)


@pytest.mark.covers("INBOX-11")
async def test_push_goes_to_known_services_only_and_ends_when_the_browser_has_gone(
    tmp_path: Path, port: int, push: PushService
) -> None:
    async with served(tmp_path, port, push) as running:
        phone = await in_thread(paired_phone, port)
        with phone:
            inner = push.subscription() | {"endpoint": "https://169.254.169.254/latest"}
            refused = await in_thread(phone.put, "/push", json=inner)
            await in_thread(phone.put, "/push", json=push.subscription())
            push.status = 410
            await asked(running)
            await in_thread(push.received)
            while (await in_thread(phone.get, "/person/state")).json()["device"]["push"]:
                pass

    assert (refused.status_code, refused.json()["error"]["message"]) == (
        400, "169.254.169.254 is no known push service; phone.push_services lists them",
    )  # fmt: skip


@pytest.mark.covers("INBOX-9")
async def test_the_page_can_be_installed_and_its_worker_alone_is_let_in(
    tmp_path: Path, port: int, push: PushService
) -> None:
    async with served(tmp_path, port, push) as running:
        base, host = f"http://127.0.0.1:{port}", {"host": "phone.example"}
        page = await in_thread(httpx2.get, f"{base}/inbox", headers=HTML | host)
        manifest = (await in_thread(httpx2.get, f"{base}/manifest.webmanifest", headers=host)).json()
        icons = [await in_thread(httpx2.get, f"{base}{one['src']}", headers=host) for one in manifest["icons"]]
        script = host | {"service-worker": "script"}
        worker = await in_thread(httpx2.get, f"{base}/service-worker.js", headers=script)
        other = await in_thread(httpx2.get, f"{base}/look/look.js", headers=script)
        computer = await in_thread(httpx2.get, f"{running.person_url}/service-worker.js", headers=script)

    assert '<link rel="manifest" href="/manifest.webmanifest">' in page.text
    assert "worker-src 'self'" in page.headers["content-security-policy"]
    assert (manifest["start_url"], manifest["display"]) == ("/inbox", "standalone")
    assert {one.headers["content-type"] for one in icons} == {"image/png"}
    assert (worker.status_code, worker.headers["content-type"]) == (200, "text/javascript; charset=utf-8")
    assert (other.status_code, computer.status_code) == (403, 421)
