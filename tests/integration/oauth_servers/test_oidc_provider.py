"""Signing in at an authorization server that others wrote (npm: oidc-provider), which rotates its refresh tokens."""

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

import anyio
import httpx2
import pytest
from anyio import to_thread
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

import needs
from conformance.node import NODE, environment, npm
from gateway.gateways import gateway
from integration.mcp_servers.test_servers import free_port
from integration.mcp_servers.test_servers import listening as process_listening
from integration.oauth_servers.person import Person
from mcp_client.test_http import HandshakeServer
from ui_mcp.oauth import account as accounts
from ui_mcp.oauth import store as stores
from ui_mcp.oauth.account import Account, Place, SignInNeededError, Way
from ui_mcp.oauth.store import SignIn, TokenStore
from ui_mcp.webserver.server import bind, listening, port_of

HERE = Path(__file__).parent
PACKAGE = "oidc-provider@9.13.3"
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("npm")
    if npm("install", "--silent", "--no-fund", "--no-audit", PACKAGE, cwd=folder).returncode:
        needs.missing("A registry from which npm installs oidc-provider")
    (folder / "provider.mjs").write_bytes((HERE / "provider.mjs").read_bytes())
    return folder


@dataclass
class Guarded:
    """An authorization server, and an MCP server that accepts its tokens."""

    issuer: str
    url: str
    store: TokenStore
    server: HandshakeServer
    _last: SignIn | None = None

    @property
    def place(self) -> Place:
        return Place("files", self.url, scopes=("openid", "files:read"))

    @property
    def account(self) -> Account:
        return Account(self.place, self.store)

    async def sign_in(self, way: Way = "browser") -> None:
        async with self.account.signing_in(way) as attempt, anyio.create_task_group() as tasks:
            tasks.start_soon(to_thread.run_sync, Person().sign_in, attempt.url)
            await attempt.finished()

    async def accepts(self, token: str) -> bool:
        """Ask the authorization server whether a token is valid, as a resource does."""
        held = self._last = await self.account.held() or self._last
        if held is None:
            return False
        async with httpx2.AsyncClient(timeout=60) as http:
            form = {"token": token, "client_id": held.client.id}
            answer = (await http.post(f"{self.issuer}/token/introspection", data=form)).json()
        return answer.get("active") is True and answer.get("aud") == self.url

    async def handle(self, request: Request) -> Response:
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        if kind != "Bearer" or not await self.accepts(token):
            return Response(status_code=401, headers={"WWW-Authenticate": 'Bearer scope="openid files:read"'})
        return await self.server.handle(request)


@contextmanager
def provider(packages: Path, resource: str, lifetime: int) -> Iterator[str]:
    port = free_port()
    command = [str(NODE), str(packages / "provider.mjs"), str(port), resource, str(lifetime)]
    with process_listening(command, port, cwd=packages, env=environment()):
        yield f"http://127.0.0.1:{port}"


@asynccontextmanager
async def guarded_server(packages: Path, folder: Path, lifetime: int = 3600) -> AsyncIterator[Guarded]:
    listener = bind("127.0.0.1", 0)
    base = f"http://127.0.0.1:{port_of(listener)}"
    with provider(packages, f"{base}/mcp", lifetime) as issuer:
        found = Guarded(issuer, f"{base}/mcp", TokenStore(folder / "sign-ins"), HandshakeServer())

        async def metadata(request: Request) -> Response:
            return JSONResponse({"resource": found.url, "authorization_servers": [issuer]})

        routes = [
            Route("/mcp", found.handle, methods=["GET", "POST", "DELETE"]),
            Route("/.well-known/oauth-protected-resource/mcp", metadata),
        ]
        async with listening(Starlette(routes=routes), listener):
            yield found


@pytest.mark.covers("MCP-CLIENT-6", "GW-SIGN-1")
async def test_a_mounted_server_is_signed_in_to_in_the_browser_and_its_tools_are_listed(
    packages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def browser(url: str) -> None:
        opened.append(url)
        Thread(target=Person().sign_in, args=(url,), daemon=True).start()

    monkeypatch.setattr(accounts, "open_default_browser", browser)
    monkeypatch.setattr(stores, "state_folder", lambda: tmp_path)
    async with guarded_server(packages, tmp_path) as found:
        servers = [{"name": "files", "url": found.url}]
        async with gateway(tmp_path, mcp={"servers": servers}) as running:
            with anyio.fail_after(120):
                await running.sources.mounts["files"].connected()
            (row,) = await running.sign_ins.listed()
            assert [entry.name for entry in running.catalog.entries() if entry.source == "files"] == ["files__do"]

    assert len(opened) == 1
    assert (row["state"], row["account"], row["issuer"], row["kept_in"]) == ("signed in", "ada", found.issuer, "file")


@pytest.mark.covers("GW-SIGN-2")
async def test_an_expired_token_is_renewed_and_the_rotated_refresh_token_is_kept(
    packages: Path, tmp_path: Path
) -> None:
    async with guarded_server(packages, tmp_path, lifetime=1) as found:
        await found.sign_in()
        used = []
        for _ in range(3):
            token = await found.account.token()
            assert token is not None
            held = await found.account.held()
            assert held is not None
            used.append((token, held.tokens.refresh))

    assert len(set(used)) == len({token for token, _ in used}) == len({refresh for _, refresh in used}) == 3


_RENEW = """
    import sys, anyio
    from pathlib import Path
    from ui_mcp.oauth.account import Account, Place
    from ui_mcp.oauth.store import SignIn, TokenStore

    async def main():
        account = Account(Place("files", sys.argv[1], scopes=("openid", "files:read")), TokenStore(Path(sys.argv[2])))
        for _ in range(int(sys.argv[3])):
            print(await account.token(), flush=True)

    anyio.run(main)
"""


def renewing(found: Guarded, folder: Path, times: int) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", textwrap.dedent(_RENEW), found.url, str(folder / "sign-ins"), str(times)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.covers("GW-SIGN-2")
async def test_processes_that_renew_at_once_never_use_a_refresh_token_twice(packages: Path, tmp_path: Path) -> None:
    async with guarded_server(packages, tmp_path, lifetime=1) as found:
        await found.sign_in()
        processes = [renewing(found, tmp_path, 5) for _ in range(3)]
        outputs = [(await to_thread.run_sync(process.communicate))[0].split() for process in processes]
        held = await found.account.held()

    assert [len(output) for output in outputs] == [5, 5, 5]
    assert not any("None" in output for output in outputs)
    assert held is not None
    assert held.problem == ""


@pytest.mark.covers("GW-SIGN-2")
async def test_a_process_killed_while_it_renews_leaves_a_sign_in_that_works_or_says_to_sign_in_again(
    packages: Path, tmp_path: Path
) -> None:
    async with guarded_server(packages, tmp_path, lifetime=1) as found:
        outcomes = set()
        for printed in range(6):
            await found.sign_in()
            process = renewing(found, tmp_path, 1000)
            assert process.stdout is not None
            for _ in range(printed % 3 + 1):  # a token has just been renewed, so that the next renewal is under way
                await to_thread.run_sync(process.stdout.readline)
            os.kill(process.pid, signal.SIGKILL)
            process.communicate()
            with anyio.fail_after(60):
                token = await found.account.token()
            held = await found.account.held()
            assert held is not None
            outcomes.add((token is not None, bool(held.problem)))

    assert outcomes <= {(True, False), (False, True)}


@pytest.mark.covers("GW-SIGN-2")
async def test_a_revoked_sign_in_ends_and_the_error_says_how_to_sign_in_again(packages: Path, tmp_path: Path) -> None:
    async with guarded_server(packages, tmp_path, lifetime=1) as found:
        await found.sign_in()
        held = await found.account.held()
        assert held is not None
        async with httpx2.AsyncClient(timeout=60) as http:
            form = {"token": held.tokens.refresh, "client_id": held.client.id}
            assert (await http.post(f"{found.issuer}/token/revocation", data=form)).is_success
        token = await found.account.token()
        error = await found.account.needed()

    assert token is None
    assert isinstance(error, SignInNeededError)
    assert "nlui sign-in files" in error.message
    assert "did not renew the sign-in" in error.message


@pytest.mark.covers("GW-SIGN-3")
async def test_a_code_is_entered_on_another_device(packages: Path, tmp_path: Path) -> None:
    async with guarded_server(packages, tmp_path) as found:
        async with found.account.signing_in("device") as attempt, anyio.create_task_group() as tasks:
            assert attempt.user_code
            tasks.start_soon(to_thread.run_sync, Person("grace").sign_in, attempt.url)
            held = await attempt.finished()
        token = await found.account.token()
        assert token is not None
        assert await found.accepts(token)

    assert held.tokens.account == "grace"


@pytest.mark.covers("GW-SIGN-4")
async def test_signing_out_ends_the_sign_in_at_the_server_too(packages: Path, tmp_path: Path) -> None:
    async with guarded_server(packages, tmp_path) as found:
        await found.sign_in()
        token = await found.account.token()
        assert token is not None
        assert await found.accepts(token)
        assert await found.account.sign_out()
        assert not await found.accepts(token)
        assert await found.account.held() is None
        assert not await found.account.sign_out()
