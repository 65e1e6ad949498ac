"""Credentials: attached as the document says, renewed when refused, never shown."""

import base64
from pathlib import Path

import anyio
import pytest

from gateway.conftest import MakeTarget, Recorded, Recorder, Reply, document, json_reply
from ui_mcp.errors import InvalidArgumentsError, RefusedError
from ui_mcp.gateway.openapi.auth import Grant, Tokens
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.toolkit.tool import Call, Text

SCHEMES = {
    "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "query": {"type": "apiKey", "in": "query", "name": "api key"},
    "cookie": {"type": "apiKey", "in": "cookie", "name": "sid"},
    "basic": {"type": "http", "scheme": "basic"},
    "bearer": {"type": "http", "scheme": "bearer"},
}


def api(security: Json, **schemes: Json) -> Json:
    operation = {"operationId": "go", "security": security, "responses": {}}
    return document({"/x": {"get": operation}}, components={"securitySchemes": {**SCHEMES, **schemes}})


@pytest.mark.covers("GW-AUT-1")
@pytest.mark.parametrize(
    ("scheme", "auth", "seen"),
    [
        ("key", {"type": "header", "token": "abcd"}, ("x-key", "abcd")),
        ("cookie", {"type": "cookie", "token": "abcd"}, ("cookie", "sid=abcd")),
        ("bearer", {"type": "bearer", "token": "abcd"}, ("authorization", "Bearer abcd")),
        ("basic", {"type": "basic", "username": "u", "password": "p"}, ("authorization", "Basic dTpw")),
        ("basic", {"type": "basic", "token": "u:p"}, ("authorization", "Basic dTpw")),
    ],
)
async def test_each_kind_is_sent_where_the_document_says(
    scheme: str, auth: JsonObject, seen: tuple[str, str], recorder: Recorder, make_target: MakeTarget
) -> None:
    async with make_target(api([{scheme: []}]), base_url=recorder.url, auth=auth) as target:
        await target.refresh()
        await target.source.call("api__go", {}, Call())

    assert recorder.last.headers[seen[0]] == seen[1]


@pytest.mark.covers("GW-AUT-1")
async def test_a_key_in_the_query_is_encoded(recorder: Recorder, make_target: MakeTarget) -> None:
    auth = {"schemes": {"query": {"type": "query", "token": "a b"}}}
    async with make_target(api([{"query": []}]), base_url=recorder.url, auth=auth) as target:
        await target.refresh()
        await target.source.call("api__go", {}, Call())

    assert recorder.last.target == "/x?api%20key=a%20b"


@pytest.mark.covers("GW-AUT-2")
async def test_the_first_satisfied_alternative_is_sent_whole(recorder: Recorder, make_target: MakeTarget) -> None:
    auth = {"schemes": {"key": {"type": "header", "token": "kkkk"}, "cookie": {"type": "cookie", "token": "cccc"}}}
    security: Json = [{"basic": []}, {"key": [], "cookie": []}]
    async with make_target(api(security), base_url=recorder.url, auth=auth) as target:
        await target.refresh()
        await target.source.call("api__go", {}, Call())

    assert (recorder.last.headers["x-key"], recorder.last.headers["cookie"]) == ("kkkk", "sid=cccc")


@pytest.mark.covers("GW-AUT-2")
async def test_an_operation_without_security_gets_no_credentials(recorder: Recorder, make_target: MakeTarget) -> None:
    async with make_target(api([]), base_url=recorder.url, auth={"type": "bearer", "token": "abcd"}) as target:
        await target.refresh()
        await target.source.call("api__go", {}, Call())

    assert "authorization" not in recorder.last.headers


@pytest.mark.covers("GW-AUT-2")
async def test_a_refusal_names_what_is_missing_and_strict_refuses_before(
    recorder: Recorder, make_target: MakeTarget
) -> None:
    recorder.default = json_reply({}, 401)
    async with make_target(api([{"key": []}]), base_url=recorder.url) as target:
        await target.refresh()
        result = await target.source.call("api__go", {}, Call())
    async with make_target(api([{"key": []}]), base_url=recorder.url, auth={"strict": True}) as target:
        await target.refresh()
        with pytest.raises(RefusedError):
            await target.source.call("api__go", {}, Call())

    assert isinstance(result.content[0], Text)
    assert "No credentials were sent for: key" in result.content[0].text
    assert len(recorder.requests) == 1


@pytest.mark.covers("GW-AUT-3")
async def test_a_refused_token_is_renewed_once_and_the_call_repeated(
    recorder: Recorder, make_target: MakeTarget
) -> None:
    given: list[str] = []

    def token(request: Recorded) -> Reply:
        given.append(f"token-{len(given)}")
        return json_reply({"access_token": given[-1], "expires_in": 3600})

    def guarded(request: Recorded) -> Reply:
        good = request.headers.get("authorization") == "Bearer token-1"
        return json_reply({"ok": True}) if good else json_reply({}, 401)

    recorder.replies = {"/token": token, "/x": guarded}
    flow = {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": f"{recorder.url}/token", "scopes": {}}}}
    auth = {"schemes": {"oauth": {"type": "oauth2", "client_id": "me", "client_secret": "shhh", "scopes": ["a", "b"]}}}
    async with make_target(api([{"oauth": []}], oauth=flow), base_url=recorder.url, auth=auth) as target:
        await target.refresh()
        result = await target.source.call("api__go", {}, Call())

    assert result.structured == {"ok": True}
    asked = recorder.requests[0]
    assert asked.body == b"grant_type=client_credentials&scope=a+b"
    assert asked.headers["authorization"] == "Basic " + base64.b64encode(b"me:shhh").decode()


@pytest.mark.covers("GW-AUT-3")
async def test_tokens_are_kept_renewed_early_and_fetched_one_at_a_time() -> None:
    now, fetched = [0.0], []

    async def post(url: str, fields: Json, headers: Json) -> tuple[int, Json]:
        fetched.append(url)
        await anyio.lowlevel.checkpoint()
        return 200, {"access_token": f"t{len(fetched)}", "expires_in": 300}

    tokens, grant = Tokens(post, lambda: now[0]), Grant("http://t", "id")
    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(tokens.token, grant)
    assert len(fetched) == 1
    now[0] = 239
    assert await tokens.token(grant) == "t1"
    now[0] = 241
    assert await tokens.token(grant) == "t2"


@pytest.mark.covers("GW-AUT-5", "GW-AUT-8")
async def test_set_auth_holds_for_the_caller_alone(
    recorder: Recorder, make_target: MakeTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_TOKEN", "from-env")
    async with make_target(api([{"bearer": []}]), base_url=recorder.url) as target:
        await target.refresh()
        result = await target.source.call("api__set_auth", {"token": "env:A_TOKEN"}, Call(principal="ann"))
        await target.source.call("api__go", {}, Call(principal="ann"))
        await target.source.call("api__go", {}, Call(principal="bob"))
        with pytest.raises(InvalidArgumentsError, match="did you mean 'bearer'"):
            await target.source.call("api__set_auth", {"token": "x", "scheme": "bearr"}, Call())

    assert result.structured == {"ok": True, "scheme": None, "auth_type": None, "token": "•••"}
    assert [request.headers.get("authorization") for request in recorder.requests] == ["Bearer from-env", None]


@pytest.mark.covers("GW-REQ-9", "GW-AUT-8")
async def test_a_login_cookie_is_kept_for_the_caller_alone(recorder: Recorder, make_target: MakeTarget) -> None:
    recorder.default = Reply(200, b"{}", {"Content-Type": "application/json", "Set-Cookie": "sid=ann-1; Path=/"})
    async with make_target(api([]), base_url=recorder.url) as target:
        await target.refresh()
        for who in ("ann", "ann", "bob"):
            await target.source.call("api__go", {}, Call(principal=who))

    assert [request.headers.get("cookie") for request in recorder.requests] == [None, "sid=ann-1", None]


@pytest.mark.covers("GW-AUT-6")
async def test_a_planted_secret_is_found_nowhere(recorder: Recorder, make_target: MakeTarget, tmp_path: Path) -> None:
    canary = "canary-5f2c9a"
    recorder.default = lambda request: json_reply({"echo": dict(request.headers), "url": request.target}, 400)
    async with make_target(
        api([{"key": []}]), base_url=recorder.url, auth={"type": "header", "token": canary}
    ) as target:
        await target.refresh()
        failed = await target.source.call("api__go", {}, Call())
        recorder.default = lambda request: json_reply({"echo": dict(request.headers)})
        fine = await target.source.call("api__go", {}, Call())
        described = await target.source.describe("api__go")
        previewed = await target.source.preview("api__go", {}, Call())

    assert recorder.last.headers["x-key"] == canary
    for shown in (failed, fine, described, previewed, target.source.health()):
        assert canary not in str(shown)
    stored = [path for path in tmp_path.rglob("*") if path.is_file() and canary.encode() in path.read_bytes()]
    assert stored == []


@pytest.mark.covers("GW-AUT-4")
async def test_fetching_the_document_and_calling_have_credentials_of_their_own(
    recorder: Recorder, make_target: MakeTarget
) -> None:
    schemes = {"key": {"type": "http", "scheme": "bearer"}}
    paths = {"/thing": {"get": {"operationId": "thing", "responses": {}, "security": [{"key": []}]}}}
    described = document(paths, components={"securitySchemes": schemes})
    recorder.replies["/openapi.json"] = json_reply(described)
    target = make_target(
        spec=f"{recorder.url}/openapi.json",
        base_url=recorder.url,
        auth={"type": "bearer", "token": "for-calls"},
        spec_auth={"type": "bearer", "token": "for-the-document"},
    )
    async with target:
        await target.refresh()
        await target.source.call("api__thing", {}, Call())

    assert [(one.target, one.headers.get("authorization")) for one in recorder.requests] == [
        ("/openapi.json", "Bearer for-the-document"),
        ("/thing", "Bearer for-calls"),
    ]
