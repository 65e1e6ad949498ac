"""Every route of every listener of the person: nothing changes without all four proofs, and nothing by reading."""

from pathlib import Path

import anyio
import httpx2
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from person_client import HTML, let_in, nonce_of, page_headers
from route_table import READING, changing_routes, routes_of, sockets_of
from security.person_origins import KINDS, Origin, person_origin
from ui_mcp.chat.http import CODE_PATH
from ui_mcp.gateway.web.access import FOR_PROGRAMS
from ui_mcp.person import PersonKeys, listener_ports, state_folder
from ui_mcp.webserver.person_auth import ENTER, NOT_IN, OTHER_ORIGIN, STALE_PAGE, WRONG_CODES

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
MISSING = None
BROKEN: list[tuple[str, str | None, int]] = [
    ("x-ui-person", MISSING, NOT_IN.status),
    ("x-ui-person", "guessed", NOT_IN.status),
    ("origin", MISSING, OTHER_ORIGIN.status),
    ("origin", "null", OTHER_ORIGIN.status),
    ("origin", "http://127.0.0.1:1", OTHER_ORIGIN.status),
    ("origin", "http://localhost:{port}", OTHER_ORIGIN.status),
    ("sec-fetch-site", MISSING, OTHER_ORIGIN.status),
    ("sec-fetch-site", "same-site", OTHER_ORIGIN.status),
    ("sec-fetch-site", "cross-site", OTHER_ORIGIN.status),
    ("sec-fetch-site", "none", OTHER_ORIGIN.status),
    ("x-ui-nonce", MISSING, STALE_PAGE.status),
    ("x-ui-nonce", "1794845026.s8ULgi4KtiGAzkfT.33c949e71c4f", STALE_PAGE.status),
]
"""Header, what stands in its place, and the status of the refusal."""


def for_person(origin: Origin) -> list[tuple[str, str]]:
    """Return the routes that change something and are for the person alone."""
    for_others = {CODE_PATH, *FOR_PROGRAMS}
    return [(method, path) for method, path in changing_routes(origin.app) if path not in for_others]


def spoilt(headers: dict[str, str], name: str, value: str | None, url: str) -> dict[str, str]:
    port = url.rpartition(":")[2]
    rest = {key: kept for key, kept in headers.items() if key != name}
    return rest if value is None else rest | {name: value.replace("{port}", port)}


@pytest.mark.covers("UI-PERSON-2")
@pytest.mark.parametrize("kind", KINDS)
async def test_every_changing_route_refuses_who_lacks_any_one_proof(kind: str, tmp_path: Path) -> None:
    let_through: list[str] = []
    async with person_origin(kind, tmp_path) as origin, httpx2.AsyncClient(base_url=origin.url, timeout=60) as client:
        good = await anyio.to_thread.run_sync(let_in, origin.url)
        routes = for_person(origin)
        for method, path in routes:
            for name, value, status in BROKEN:
                if path == ENTER and name == "x-ui-person":
                    continue  # it gives the credential
                answer = await client.request(method, path, json={}, headers=spoilt(good, name, value, origin.url))
                if answer.status_code != status:
                    let_through.append(f"{method} {path} with {name}={value}: {answer.status_code}")

    assert let_through == []
    assert ("POST", "/person/leave") in routes


@pytest.mark.covers("UI-PERSON-2")
@pytest.mark.parametrize("kind", KINDS)
async def test_with_all_proofs_every_route_is_reached(kind: str, tmp_path: Path) -> None:
    async with person_origin(kind, tmp_path) as origin, httpx2.AsyncClient(base_url=origin.url, timeout=60) as client:
        good = await anyio.to_thread.run_sync(let_in, origin.url)
        refused = [
            f"{method} {path}: {answer.status_code}"
            for method, path in for_person(origin)
            if path not in {ENTER, "/person/leave"}
            and (answer := await client.request(method, path, json={}, headers=good)).status_code
            in {NOT_IN.status, OTHER_ORIGIN.status}
        ]

    assert refused == []


def kept() -> list[str]:
    """Name the secrets of the account."""
    return sorted(str(file) for file in state_folder().rglob("*") if "listeners" not in file.parts)


@pytest.mark.covers("UI-PERSON-3")
@pytest.mark.parametrize("kind", KINDS)
async def test_reading_changes_nothing_on_any_path(kind: str, tmp_path: Path) -> None:
    async with person_origin(kind, tmp_path) as origin, httpx2.AsyncClient(base_url=origin.url, timeout=60) as client:
        good = await anyio.to_thread.run_sync(let_in, origin.url)
        code = PersonKeys().new_code()
        watched = ("/chat/messages", "/approvals", "/api/conversations", "/api/targets", "/api/config/llm")
        before = kept(), [(await client.get(path, headers=good)).text for path in watched]
        tried = {"code": code, "decision": "approve", "scope": "always", "content": "hello", "message": "hello"}
        statuses = {}
        for method, path in sorted({("GET", path) for _, path in routes_of(origin.app) if path not in FOR_PROGRAMS}):
            if not path.endswith(("/wait", "/stream")):
                statuses[path] = (await client.request(method, path, params=tried, headers=good)).status_code
        after = kept(), [(await client.get(path, headers=good)).text for path in watched]

    assert before == after
    assert {statuses[ENTER], statuses["/person/leave"]} <= {404, 405}


@pytest.mark.covers("UI-PERSON-4")
@pytest.mark.parametrize("kind", KINDS)
async def test_the_driven_browser_gets_nothing_here_not_even_the_page(kind: str, tmp_path: Path) -> None:
    async with person_origin(kind, tmp_path) as origin, httpx2.AsyncClient(base_url=origin.url, timeout=60) as client:
        good = await anyio.to_thread.run_sync(let_in, origin.url)
        driven = good | {"user-agent": "Mozilla/5.0 ui-mcp-eyes", **HTML}
        reached = []
        for method, path in sorted(set(routes_of(origin.app))):
            async with client.stream(method, path, headers=driven) as answer:  # one that is reached may never end
                reached += [f"{method} {path}"] if answer.status_code != 403 else []
        registered = int(origin.url.rpartition(":")[2]) in listener_ports()

    assert reached == []
    assert registered


@pytest.mark.covers("UI-PERSON-1")
@pytest.mark.parametrize("kind", ["ui", "approvals", "chat"])
async def test_without_a_credential_only_pages_and_their_files_are_read(kind: str, tmp_path: Path) -> None:
    async with person_origin(kind, tmp_path) as origin, httpx2.AsyncClient(base_url=origin.url, timeout=60) as client:
        read = {
            path
            for method, path in routes_of(origin.app)
            if method in READING and (await client.get(path)).status_code not in {401, 404}
        }

    assert read <= {"/"}


@pytest.mark.covers("UI-PERSON-1")
async def test_a_socket_needs_the_credential_in_its_first_frame(tmp_path: Path) -> None:
    async with person_origin("ui", tmp_path) as origin:
        credential = (await anyio.to_thread.run_sync(let_in, origin.url))["x-ui-person"]
        paths = sockets_of(origin.app)
        seen = {
            (path, token): await _answer_to_hello(origin.url, path, token)
            for path in paths
            for token in ("", "guessed", credential)
        }

    assert set(paths) == {"/ws/timeline", "/ws/hand-over"}
    assert {seen[path, token] for path in paths for token in ("", "guessed")} == {"4401"}
    assert "ui_state_snapshot" in seen["/ws/timeline", credential]
    assert seen["/ws/hand-over", credential] != "4401"


async def _answer_to_hello(origin: str, path: str, token: str) -> str:
    """Return the beginning of what a socket sends to a page with a token, or the code that it closes with."""
    async with connect(f"ws{origin[4:]}{path}", origin=origin, open_timeout=60) as socket:  # type: ignore[arg-type]
        await socket.send(f'{{"type": "hello", "token": "{token}"}}')
        try:
            return str(await socket.recv())[:30]
        except ConnectionClosed as closed:
            return str(closed.rcvd.code if closed.rcvd else "")


@pytest.mark.covers("UI-PERSON-1")
async def test_wrong_codes_are_limited_and_a_right_one_is_good_once_and_here_alone(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    async with (
        person_origin("ui", tmp_path / "a") as origin,
        person_origin("ui", tmp_path / "b") as other,
        httpx2.AsyncClient(base_url=origin.url, timeout=60) as client,
    ):
        page = page_headers(origin.url, nonce_of((await client.get("/", headers=HTML)).text))
        code = PersonKeys().new_code()
        first = await client.post(ENTER, json={"code": code}, headers=page)
        again = await client.post(ENTER, json={"code": code}, headers=page)
        wrong = [
            (await client.post(ENTER, json={"code": "AAAA-AAAA"}, headers=page)).status_code for _ in range(WRONG_CODES)
        ]
        credential = {"x-ui-person": first.json()["credential"]}
        here = await client.get("/person/state", headers=credential)
        elsewhere = await client.get(f"{other.url}/person/state", headers=credential)
        left = await client.post("/person/leave", json={}, headers=page | credential)
        gone = await client.get("/person/state", headers=credential)

    assert (first.status_code, again.status_code) == (200, 401)
    assert wrong == [401] * (WRONG_CODES - 1) + [429]
    assert (here.status_code, elsewhere.status_code) == (200, 401)
    assert (left.status_code, gone.status_code) == (200, 401)


@pytest.mark.covers("UI-PERSON-5")
@pytest.mark.parametrize("kind", KINDS)
async def test_the_page_can_be_framed_and_reached_by_no_other_page(kind: str, tmp_path: Path) -> None:
    async with person_origin(kind, tmp_path) as origin, httpx2.AsyncClient(base_url=origin.url, timeout=60) as client:
        page = await client.get("/chat" if kind == "chat" else "/", headers=HTML)

    policy = dict(part.strip().partition(" ")[::2] for part in page.headers["content-security-policy"].split(";"))
    assert page.status_code == 200
    assert "set-cookie" not in page.headers
    assert policy["frame-ancestors"] == policy["form-action"] == policy["base-uri"] == "'none'"
    assert policy["connect-src"] == "'self'"
    assert "'unsafe-inline'" not in policy["script-src"]
    assert page.headers["cross-origin-opener-policy"] == "same-origin"
    assert page.headers["cross-origin-resource-policy"] == "same-origin"
    assert page.headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in page.headers


@pytest.fixture(autouse=True)
def own_secrets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
