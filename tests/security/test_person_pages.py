"""Agents' snapshots and actions keep away from the person's own pages, in a driven browser and in an attached one."""

import re
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import httpx2
import pytest
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import Receive, Scope, Send

from chromium import FLAGS
from introspection.demos import needs
from ui_mcp.config import Config
from ui_mcp.errors import UiNotEnabledError
from ui_mcp.introspection.backend import Attachment, ScreenshotRequest
from ui_mcp.introspection.backends.chromium.browser import BrowserBackend
from ui_mcp.introspection.backends.chromium.devtools import DevToolsError
from ui_mcp.introspection.backends.chromium.input import TYPED_AT_ONCE
from ui_mcp.introspection.backends.chromium.launch import complete_url
from ui_mcp.introspection.backends.chromium.tab import Tab
from ui_mcp.introspection.contract import CaptureRequest
from ui_mcp.introspection.person_pages import is_person_page
from ui_mcp.introspection.snapshot import SnapshotRequest, as_text
from ui_mcp.introspection.targets import TargetRegistry, write
from ui_mcp.introspection.tools.perform import PerformArgs, act
from ui_mcp.person import registered_listener
from ui_mcp.toolkit.tool import Call, Text
from ui_mcp.validation import read
from ui_mcp.webserver.person_app import bind_for_person
from ui_mcp.webserver.server import bind, listening, port_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
CLICK = {"type": "click", "x": 5, "y": 5}


@pytest.fixture(autouse=True)
def account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the records of listeners to this test."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@dataclass
class Site:
    """A server of one page, and what it was asked for."""

    body: str = "<title>Site</title><button onclick=\"document.title='pressed'\">Approve</button>"
    asked: list[str] = field(default_factory=list)
    url: str = ""

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2].strip("/"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            self.asked.append("ws")
            return
        request = Request(scope)
        if request.url.path == "/favicon.ico":
            await Response(status_code=404)(scope, receive, send)
            return
        self.asked.append(f"{request.method} {request.url.path}")
        await HTMLResponse(self.body, headers={"Access-Control-Allow-Origin": "*"})(scope, receive, send)


@asynccontextmanager
async def serving(site: Site) -> AsyncIterator[Site]:
    listener = bind("127.0.0.1", 0)
    site.url = f"http://127.0.0.1:{port_of(listener)}/"
    async with listening(site, listener):
        yield site


@pytest.fixture
async def person() -> AsyncIterator[Site]:
    """The person's listener, on record."""
    async with serving(Site()) as site:
        with registered_listener(site.port):
            yield site


@pytest.fixture
async def app() -> AsyncIterator[Site]:
    async with serving(Site("<title>App</title><p>app</p>")) as site:
        yield site


@asynccontextmanager
async def driven(url: str) -> AsyncIterator[BrowserBackend]:
    needs("chromium")
    backend = await BrowserBackend.launch(url)
    try:
        yield backend
    finally:
        await backend.close()


@pytest.fixture
def debugging(tmp_path: Path) -> Iterator[str]:
    """The debugging address of a person's own browser."""
    needs("chromium")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = ["/usr/bin/chromium", "--headless=new", *FLAGS, f"--remote-debugging-port={port}"]
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    with subprocess.Popen([*command, profile, "about:blank"], stderr=subprocess.DEVNULL) as browser:
        yield f"http://127.0.0.1:{port}"
        browser.kill()


@asynccontextmanager
async def attached(address: str, *urls: str) -> AsyncIterator[BrowserBackend]:
    """Join a browser in which the person has these pages open, the last in front."""
    with anyio.fail_after(60):
        while True:
            try:
                async with httpx2.AsyncClient(trust_env=False) as client:
                    for url in urls:
                        (await client.put(f"{address}/json/new?{url}")).raise_for_status()
                    # Each is an empty page at first, and a person's pages were open before we join.
                    while not {*urls} <= {one["url"] for one in (await client.get(f"{address}/json/list")).json()}:
                        await anyio.sleep(0.02)
                break
            except httpx2.ConnectError:
                await anyio.lowlevel.checkpoint()
    backend = await BrowserBackend.connect(address)
    try:
        with anyio.fail_after(60):
            while not {*urls} <= {driven.tab.url for driven in backend._pages}:
                await anyio.sleep(0.02)
        for driven in backend._pages:
            await driven.tab.wait_document()
        yield backend
    finally:
        await backend.close()


async def shown(tab: Tab, url: str) -> None:
    """Wait until the page or a frame in it is at `url`."""
    with anyio.fail_after(60):
        while all(frame.url != url for frame in tab.frames):
            await anyio.sleep(0.02)


async def refused(backend: BrowserBackend) -> set[str]:
    """Look and act in every way at the page in front; return why each was refused."""
    reasons = set()
    for attempt in (
        lambda: backend.capture(CaptureRequest()),
        lambda: backend.at(5, 5),
        lambda: backend.act(CLICK),
        lambda: backend.act({"type": "pressKey", "key": "ENTER"}),
        lambda: backend.act({"type": "typeText", "text": "yes"}),
        lambda: backend.act({"type": "dialog", "accept": True}),
        lambda: backend.screenshot(ScreenshotRequest()),
    ):
        with pytest.raises(UiNotEnabledError) as caught:
            await attempt()
        reasons.add(str(caught.value.details["reason"]))
    return reasons


@pytest.mark.covers("UI-EYES-1")
async def test_the_driven_browser_cannot_connect_to_the_persons_listener(app: Site, person: Site) -> None:
    other = person.url.replace("127.0.0.1", "localhost")
    app.body = f"<title>App</title><img src='{person.url}i'><iframe src='{other}f'></iframe><p>app</p>"
    async with driven(app.url) as backend:
        page = backend._pages[0].tab
        fetched = await page.evaluate(f"fetch('{person.url}').then(() => 'reached', () => 'failed')")
        form = "f = document.createElement('form'); f.method = 'POST'; document.body.append(f);"
        await page.evaluate(f"{form} f.action = '{person.url}post'; f.target = '_blank'; f.submit()")
        opened = f"new Promise(done => {{ s = new WebSocket('{person.url.replace('http', 'ws')}');"
        socket_state = await page.evaluate(
            f"{opened} s.onopen = () => done('open'); s.onerror = () => done('failed'); }})"
        )
        with pytest.raises(DevToolsError, match="ERR_NAME_NOT_RESOLVED"):
            await page.goto(f"{person.url}link")

    assert (fetched, socket_state, person.asked) == ("failed", "failed", [])


@pytest.mark.covers("UI-EYES-1")
async def test_the_driven_browser_is_not_sent_to_the_persons_page(app: Site, person: Site) -> None:
    with pytest.raises(UiNotEnabledError, match="belongs to the person alone"):
        await BrowserBackend.launch(person.url)
    async with driven(app.url) as backend:
        for send in (backend.visit, backend.open):
            with pytest.raises(UiNotEnabledError) as caught:
                await send(person.url)
            assert caught.value.details["reason"] == "PERSON_PAGE"

    assert person.asked == []


@pytest.mark.covers("UI-EYES-1")
async def test_a_driven_browser_is_replaced_when_a_person_begins_to_listen(app: Site) -> None:
    async with driven(app.url) as backend, serving(Site()) as late:
        before = backend.alive()
        with registered_listener(late.port):
            during = backend.alive()

    assert (before, during) == (True, False)


@pytest.mark.covers("UI-EYES-1")
async def test_a_driven_browser_goes_on_when_a_person_begins_to_listen_where_it_was_kept_from(
    app: Site, tmp_path: Path
) -> None:
    async with driven(app.url) as backend:
        with bind_for_person("127.0.0.1", tmp_path) as late, registered_listener(port_of(late)):
            during = backend.alive()
            with anyio.fail_after(60), pytest.raises(DevToolsError, match="ERR_NAME_NOT_RESOLVED"):
                await backend._pages[0].tab.goto(f"http://127.0.0.1:{port_of(late)}/")

    assert during


@pytest.mark.covers("UI-EYES-1", "IN-12")
async def test_an_agent_is_told_that_its_browser_was_replaced_before_it_acts_in_the_new_one(
    app: Site, tmp_path: Path
) -> None:
    needs("chromium")
    app.body = "<title>App</title><button onclick=\"document.title='pressed'\">Pay</button>"
    write(tmp_path, Attachment("url", "url", app.url, url=app.url))
    targets = TargetRegistry(Config, lambda: tmp_path, lambda: None)
    pay = [{"type": "click", "target": {"text": "Pay"}}]
    try:
        before = await as_text(await targets.target("url"), SnapshotRequest())
        async with serving(Site()) as late:
            with registered_listener(late.port):
                refused = await act.body(targets, read(PerformArgs, {"actions": pay}), Call())
                after = await as_text(await targets.target("url"), SnapshotRequest())
                await targets.forget("url")
    finally:
        await targets.close()

    uids = [set(re.findall(r"^ +\w+ (\w+)", outline, re.MULTILINE)) for outline in (before, after)]
    (said,) = refused.content
    assert isinstance(said, Text)
    assert "MCP_UI_STALE_REF" in said.text
    assert "it was begun again" in said.text
    assert "pressed" not in after
    assert uids[0]
    assert not uids[0] & uids[1]


@pytest.mark.covers("UI-EYES-1")
async def test_the_persons_page_in_an_attached_browser_is_neither_seen_nor_operated(
    app: Site, person: Site, debugging: str
) -> None:
    async with attached(debugging, app.url, person.url) as backend:
        backend._pages.sort(key=lambda driven: driven.tab.url == person.url)  # the person looks at it
        reasons = await refused(backend)
        seen = await backend.capture(CaptureRequest(stage="all"))
        title = await backend._pages[-1].tab.title()

    assert reasons == {"PERSON_PAGE"}
    assert "App" in [stage["title"] for stage in seen["stages"]]
    assert "Site" not in str(seen)
    assert title == "Site"


@pytest.mark.covers("UI-EYES-1")
async def test_a_page_that_goes_there_meanwhile_is_refused_and_so_is_one_that_frames_it(
    app: Site, person: Site, debugging: str
) -> None:
    async with attached(debugging, app.url) as backend:
        backend._pages.sort(key=lambda driven: driven.tab.url == app.url)
        page = backend._pages[-1].tab
        assert "app" in str(await backend.capture(CaptureRequest()))
        await page.evaluate(f"document.body.innerHTML = \"<iframe src='{person.url}'></iframe>\"")
        await shown(page, person.url)
        framed = await refused(backend)
        await page.goto(person.url.replace("127.0.0.1", "localhost"))
        gone = await refused(backend)

    assert (framed, gone) == ({"PERSON_PAGE"}, {"PERSON_PAGE"})


@pytest.mark.covers("UI-EYES-1")
async def test_a_page_that_goes_there_while_text_is_typed_gets_no_more_of_it(
    person: Site, app: Site, debugging: str
) -> None:
    person.body = "<title>Person</title><textarea autofocus></textarea>"
    app.body = f"<textarea autofocus onkeydown=\"location.href = '{person.url}'\"></textarea>"
    async with attached(debugging, app.url) as backend:
        backend._pages.sort(key=lambda driven: driven.tab.url == app.url)
        page = backend._pages[-1].tab
        with pytest.raises(UiNotEnabledError, match="belongs to the person alone"):
            await backend.act({"type": "typeText", "text": "approve " * 500})
        await shown(page, person.url)
        await page.wait_document()
        arrived = await page.evaluate("document.querySelector('textarea').value")

    assert len(arrived) <= TYPED_AT_ONCE


@pytest.mark.covers("UI-EYES-1")
async def test_a_page_with_the_persons_mark_is_refused_wherever_it_is(app: Site) -> None:
    app.body = '<title>App</title><meta name="ui-nonce" content="x"><button>Approve</button>'
    async with driven(app.url) as backend:
        reasons = await refused(backend)

    assert reasons == {"PERSON_PAGE"}


@pytest.mark.covers("UI-EYES-1")
@pytest.mark.parametrize(
    ("url", "persons"),
    [
        ("http://127.0.0.1:8123/", True),
        ("http://localhost:8123/x#code=1", True),
        ("http://LOCALHOST.:8123/", True),
        ("http://app.localhost:8123/", True),
        ("http://[::1]:8123/", True),
        ("http://[::ffff:127.0.0.1]:8123/", True),
        ("http://127.9.9.9:8123/", True),
        ("http://2130706433:8123/", True),
        ("http://0.0.0.0:8123/", True),
        ("https://localhost:8123/", True),
        ("ws://localhost:8123/", True),
        ("view-source:http://localhost:8123/", True),
        ("blob:http://localhost:8123/1234", True),
        ("http://127.0.0.1:8124/", False),
        ("http://example.com:8123/", False),
        ("about:blank", False),
        ("http://[broken", False),
    ],
)
def test_every_spelling_of_the_persons_address_is_known(url: str, persons: bool) -> None:
    with registered_listener(8123):
        assert is_person_page(url) is persons
        if persons and url.startswith(("http", "ws")):
            with pytest.raises(UiNotEnabledError):
                complete_url(url)
