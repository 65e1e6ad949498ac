"""Signing in and out, and tokens that expire, are refused, or are renewed by others."""

import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from anyio import to_thread
from starlette.responses import JSONResponse

from oauth.authorization_server import FakeServer, fake_server, query, visit
from ui_mcp.oauth.account import Account, Place
from ui_mcp.oauth.grants import GrantError
from ui_mcp.oauth.metadata import Challenge
from ui_mcp.oauth.store import TokenStore


@pytest.fixture
async def server() -> AsyncIterator[FakeServer]:
    async with fake_server() as found:
        yield found


@pytest.fixture
def account(server: FakeServer, tmp_path: Path) -> Account:
    return Account(Place("files", f"{server.base}/api"), TokenStore(tmp_path))


async def sign_in(account: Account, challenge: Challenge | None = None) -> str:
    async with account.signing_in("browser", challenge) as attempt, anyio.create_task_group() as tasks:
        tasks.start_soon(to_thread.run_sync, visit, attempt.url)
        await attempt.finished()
    return attempt.url


@pytest.mark.covers("GW-SIGN-1")
async def test_a_person_signs_in_with_what_the_resource_asks_for(server: FakeServer, account: Account) -> None:
    assert await account.token() is None
    url = await sign_in(account)

    assert await account.token() == "token-1"
    assert (query(url)["scope"], query(url)["resource"]) == ("read write", f"{server.base}/api")
    assert server.forms[0]["resource"] == f"{server.base}/api"
    assert server.registered[0]["application_type"] == "native"


@pytest.mark.covers("GW-SIGN-1")
async def test_the_registration_is_used_again_and_renewed_when_the_server_has_forgotten_it(
    server: FakeServer, account: Account
) -> None:
    await sign_in(account)
    await sign_in(account)
    assert len(server.registered) == 1
    server.token_answer = lambda form: JSONResponse({"error": "invalid_client"}, 401)
    assert await account.token(refused="token-2") is None
    server.token_answer = lambda form: JSONResponse({"access_token": "token-x"})
    await sign_in(account)

    assert len(server.registered) == 2


@pytest.mark.covers("GW-SIGN-1")
async def test_a_client_that_the_person_registered_is_used_as_it_is(server: FakeServer, tmp_path: Path) -> None:
    place = Place("files", f"{server.base}/api", client_id="mine", client_secret="s", client_auth="post", scopes=("x",))
    url = await sign_in(Account(place, TokenStore(tmp_path)))

    assert (server.registered, query(url)["client_id"], query(url)["scope"]) == ([], "mine", "x")
    assert (server.forms[0]["client_id"], server.forms[0]["client_secret"]) == ("mine", "s")


@pytest.mark.covers("GW-SIGN-2")
async def test_a_refused_token_is_renewed_once_for_all_who_wait(server: FakeServer, account: Account) -> None:
    await sign_in(account)
    found: list[str | None] = []

    async def renew() -> None:
        found.append(await account.token(refused="token-1"))

    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(renew)

    assert (found, len(server.forms)) == (["token-2"] * 5, 2)


@pytest.mark.covers("GW-SIGN-2")
async def test_a_server_that_is_away_ends_no_sign_in(server: FakeServer, account: Account) -> None:
    await sign_in(account)
    server.token_answer = lambda form: JSONResponse({}, 503)
    with pytest.raises(GrantError, match="HTTP 503"):
        await account.token(refused="token-1")

    assert await account.token() == "token-1"


@pytest.mark.covers("GW-SIGN-2")
async def test_a_cancelled_call_does_not_lose_the_rotated_token(server: FakeServer, account: Account) -> None:
    await sign_in(account)
    with anyio.CancelScope() as scope:
        scope.cancel()
        await account.token(refused="token-1")
    held = await account.held()

    # What had reached the server was kept; what had not is as it was.
    assert held is not None
    assert held.tokens.refresh == f"r-{len(server.forms)}"


@pytest.mark.covers("GW-SIGN-2")
async def test_a_token_without_a_refresh_token_ends_with_its_time(server: FakeServer, account: Account) -> None:
    server.token_answer = lambda form: JSONResponse({"access_token": "token-1", "expires_in": 30})
    await sign_in(account)

    assert await account.token() is None
    assert "The sign-in has expired" in (await account.needed()).message


@pytest.mark.covers("GW-SIGN-5")
async def test_tokens_are_renewed_where_they_came_from_whatever_the_metadata_say_later(
    server: FakeServer, account: Account
) -> None:
    await sign_in(account)
    server.metadata = {"issuer": "https://bank.example", "token_endpoint": "https://bank.example/token"}

    assert await account.token(refused="token-1") == "token-2"


@pytest.mark.covers("GW-SIGN-5")
async def test_another_address_never_gets_the_tokens(server: FakeServer, account: Account, tmp_path: Path) -> None:
    await sign_in(account)
    elsewhere = Account(replace(account.place, url=f"{server.base}/other"), TokenStore(tmp_path))

    assert await elsewhere.token() is None


async def test_more_scopes_are_asked_for_beside_those_granted(server: FakeServer, account: Account) -> None:
    await sign_in(account, Challenge(scope="read"))
    url = await sign_in(account, Challenge(scope="admin", error="insufficient_scope"))

    assert query(url)["scope"] == "read admin"


@pytest.mark.covers("GW-SIGN-3")
async def test_a_device_code_is_polled_until_the_person_is_done(
    server: FakeServer, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(anyio, "sleep", sleep)
    answers = [{"error": "authorization_pending"}, {"error": "slow_down"}, {"access_token": "token-d"}]
    server.token_answer = lambda form: JSONResponse(answers.pop(0))
    async with account.signing_in("device") as attempt:
        await attempt.finished()

    assert (attempt.user_code, attempt.url, await account.token()) == ("AB-CD", f"{server.base}/enter", "token-d")
    assert waits == [1.0, 1.0, 6.0]


@pytest.mark.covers("GW-SIGN-3")
async def test_a_device_code_that_is_refused_says_so(
    server: FakeServer, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(anyio, "sleep", lambda _: anyio.lowlevel.checkpoint())
    server.token_answer = lambda form: JSONResponse({"error": "access_denied"}, 400)
    async with account.signing_in("device") as attempt:
        with pytest.raises(GrantError, match="access_denied"):
            await attempt.finished()

    assert await account.token() is None


@pytest.mark.covers("GW-SIGN-4")
async def test_signing_out_revokes_the_refresh_token(server: FakeServer, account: Account) -> None:
    await sign_in(account)
    assert await account.sign_out()

    assert (server.forms[-1]["token"], server.forms[-1]["token_type_hint"]) == ("r-1", "refresh_token")
    assert await account.token() is None


async def test_a_sign_in_of_another_process_is_awaited(server: FakeServer, account: Account, tmp_path: Path) -> None:
    with TokenStore(tmp_path).asking(account.place.key):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(sign_in, account)
            assert await account.signed_in_meanwhile()

    await account.sign_out()
    assert not await account.signed_in_meanwhile()


async def test_requests_to_the_redirect_address_that_are_not_the_answer_are_turned_away(
    server: FakeServer, account: Account
) -> None:
    async with account.signing_in("browser") as attempt, anyio.create_task_group() as tasks:
        back = query(attempt.url)["redirect_uri"]

        async def others() -> None:
            for url in (f"{back}?code=x&state=guessed", back.replace("callback", "favicon.ico")):
                assert (await to_thread.run_sync(visit, url)).status_code == 404
            await to_thread.run_sync(visit, attempt.url)

        tasks.start_soon(others)
        held = await attempt.finished()

    assert (held.tokens.access, held.since <= time.time()) == ("token-1", True)
