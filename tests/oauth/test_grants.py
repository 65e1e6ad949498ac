"""Requests to an authorization server: what is sent, and which answers are not believed."""

import base64
from hashlib import sha256

import pytest
from starlette.responses import JSONResponse

from oauth.authorization_server import FakeServer, fake_server, query
from ui_mcp.http_client import open_client
from ui_mcp.jsontypes import JsonObject, dumps
from ui_mcp.oauth.grants import Client, CodeRequest, GrantError, Grants, TokenSet
from ui_mcp.oauth.metadata import AuthorizationServer

CLIENT = Client("c", redirect_url="http://127.0.0.1:1/callback")
REQUEST = CodeRequest("https://id.example/auth", "right", "v" * 43)


def known(server: FakeServer, **more: object) -> AuthorizationServer:
    base = server.base
    return AuthorizationServer(base, f"{base}/authorize", f"{base}/token", f"{base}/register", f"{base}/device", **more)  # type: ignore[arg-type]


@pytest.mark.covers("GW-SIGN-1")
async def test_a_code_request_has_a_challenge_of_its_secret_verifier_and_the_resource() -> None:
    async with fake_server() as server, open_client() as http:
        made = Grants(http, known(server), "https://files.example").code_request(CLIENT, ("a", "b"), {"audience": "x"})

    sent = query(made.url)
    digest = base64.urlsafe_b64encode(sha256(made.verifier.encode()).digest()).decode().rstrip("=")
    assert (sent["code_challenge"], sent["code_challenge_method"]) == (digest, "S256")
    assert (sent["resource"], sent["scope"], sent["audience"]) == ("https://files.example", "a b", "x")
    assert made.verifier not in made.url
    assert made.verifier not in repr(made)


@pytest.mark.covers("GW-SIGN-1")
@pytest.mark.parametrize(
    ("answer", "names_issuer", "error"),
    [
        ({"code": "x", "state": "wrong"}, False, "state_mismatch"),
        ({"code": "x"}, False, "state_mismatch"),
        ({"code": "x", "state": "right"}, True, "issuer_missing"),
        ({"code": "x", "state": "right", "iss": "https://bank.example"}, False, "issuer_mismatch"),
        ({"error": "access_denied", "state": "right"}, False, "access_denied"),
    ],
)
async def test_an_answer_of_another_sign_in_or_server_is_refused_before_anything_is_sent(
    answer: dict[str, str], names_issuer: bool, error: str
) -> None:
    async with fake_server() as server, open_client() as http:
        grants = Grants(http, known(server, names_issuer=names_issuer))
        with pytest.raises(GrantError) as raised:
            await grants.exchange(CLIENT, REQUEST, answer)

    assert (raised.value.error, server.forms) == (error, [])


async def test_a_secret_goes_into_the_header_or_the_form_as_registered() -> None:
    async with fake_server() as server, open_client() as http:
        grants = Grants(http, known(server))
        await grants.refresh(Client("c&", "s:", "client_secret_basic"), TokenSet("a", "r"))
        await grants.refresh(Client("c", "s", "client_secret_post"), TokenSet("a", "r"))
        basic, post = server.forms

    assert basic == {"grant_type": "refresh_token", "refresh_token": "r"}
    assert post == {"grant_type": "refresh_token", "refresh_token": "r", "client_id": "c", "client_secret": "s"}


@pytest.mark.covers("GW-SIGN-2")
async def test_a_refresh_token_that_is_not_rotated_is_kept() -> None:
    async with fake_server() as server, open_client() as http:
        server.token_answer = lambda form: JSONResponse({"access_token": "new", "token_type": "bearer"})
        fresh = await Grants(http, known(server)).refresh(CLIENT, TokenSet("a", "r", 1.0, "scope", "ada"))

    assert fresh == TokenSet("new", "r", 0.0, "scope", "ada")


@pytest.mark.parametrize(
    "given",
    [
        {"token_type": "Bearer"},
        {"access_token": "x", "token_type": "mac"},
        {"access_token": 5},
        {"error": "invalid_grant"},
        [],
    ],
)
async def test_what_is_not_a_bearer_token_is_refused(given: object) -> None:
    async with fake_server() as server, open_client() as http:
        server.token_answer = lambda form: JSONResponse(given)
        with pytest.raises(GrantError):
            await Grants(http, known(server)).refresh(CLIENT, TokenSet("a", "r"))


async def test_the_name_of_the_person_is_read_from_an_id_token() -> None:
    def id_token(claims: JsonObject) -> str:
        return f"x.{base64.urlsafe_b64encode(dumps(claims).encode()).decode().rstrip('=')}.y"

    answers = [id_token({"sub": "7", "email": "a@b.example"}), id_token({"sub": "7"}), "no token", None]
    async with fake_server() as server, open_client() as http:
        server.token_answer = lambda form: JSONResponse({"access_token": "x", "id_token": answers.pop(0)})
        names = [(await Grants(http, known(server)).refresh(CLIENT, TokenSet("a", "r"))).account for _ in range(4)]

    assert names == ["a@b.example", "7", "", ""]


async def test_a_server_that_registers_nobody_is_told_apart() -> None:
    async with fake_server() as server, open_client() as http:
        with pytest.raises(GrantError, match="write the client_id"):
            await Grants(http, AuthorizationServer(server.base)).register("http://127.0.0.1:1/callback", ())
