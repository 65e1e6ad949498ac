"""What documents may put into a request, what follows a redirect, and how long checking arguments may take."""

from collections.abc import AsyncIterator

import anyio
import pytest

from gateway.conftest import MakeTarget, Recorder, Reply, document, json_reply
from ui_mcp.gateway.openapi.schemas import schema_mismatch
from ui_mcp.gateway.openapi.validation import Checker, UncheckableError
from ui_mcp.http_client import open_client
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.tool import Call

CATASTROPHE = "a" * 40 + "!"
FRAMING = ["Host", "content-length", "Transfer-Encoding", "Connection", "TE", "Trailer", "Upgrade", "Keep-Alive",
           "Proxy-Authorization", "Proxy-Connection", "Expect"]  # fmt: skip


@pytest.fixture
async def other() -> AsyncIterator[Recorder]:
    """A server on another origin."""
    found = Recorder()
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
    found.url = f"http://127.0.0.1:{listener.extra(anyio.abc.SocketAttribute.local_port)}"
    async with listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, found.handle)
        yield found
        group.cancel_scope.cancel()


def operation(**more: object) -> dict[str, object]:
    return {"operationId": "go", "responses": {}, **more}


@pytest.mark.covers("GW-ISO-6")
async def test_a_document_cannot_name_headers_that_frame_the_message(
    recorder: Recorder, make_target: MakeTarget
) -> None:
    named = [*FRAMING, "", "two words", "X-Fine"]
    parameters = [{"name": name, "in": "header", "schema": {"type": "string"}} for name in named]
    async with make_target(
        document({"/x": {"get": operation(parameters=parameters)}}), base_url=recorder.url
    ) as target:
        await target.refresh()
        (entry,) = target.source.entries()
        await target.source.call("api__go", {"X-Fine": "1"}, Call())
        assert target.source.api is not None
        notes = [note["code"] for note in target.source.api.report()["operations"][0]["notes"]]

    assert list(entry.tool.input_schema["properties"]) == ["X-Fine"]
    assert sorted(notes) == ["bad_parameter"] * 2 + ["framing_header"] * len(FRAMING)
    assert recorder.last.headers["host"] == recorder.url.removeprefix("http://")


@pytest.mark.covers("GW-ISO-6")
async def test_a_key_cannot_be_sent_as_a_header_that_frames_the_message(
    recorder: Recorder, make_target: MakeTarget
) -> None:
    schemes = {"k": {"type": "apiKey", "in": "header", "name": "Host"}}
    described = document({"/x": {"get": operation(security=[{"k": []}])}}, components={"securitySchemes": schemes})
    auth = {"schemes": {"k": {"type": "header", "token": "evil.example"}}}
    async with make_target(described, base_url=recorder.url, auth=auth) as target:
        await target.refresh()
        await target.source.call("api__go", {}, Call())

    assert recorder.last.headers["host"] == recorder.url.removeprefix("http://")


@pytest.mark.covers("GW-ISO-5")
@pytest.mark.parametrize("status", [302, 307])
async def test_nothing_but_the_plainest_headers_follows_to_another_origin(
    status: int, recorder: Recorder, other: Recorder, make_target: MakeTarget
) -> None:
    parameters = [
        {"name": "X-Mine", "in": "header", "schema": {"type": "string"}},
        {"name": "sid", "in": "cookie", "schema": {"type": "string"}},
    ]
    body = {"content": {"application/json": {"schema": {"type": "object"}}}}
    schemes = {"k": {"type": "apiKey", "in": "query", "name": "key"}}
    described = document(
        {"/x": {"post": operation(parameters=parameters, requestBody=body, security=[{"k": []}])}},
        components={"securitySchemes": schemes},
    )
    recorder.replies["/first"] = Reply(200, b"{}", {"Set-Cookie": "jar=canary5; Path=/"})
    recorder.replies["/x"] = Reply(status, b"", {"Location": f"{other.url}/there", "Set-Cookie": "jar=canary4; Path=/"})
    settings = {
        "base_url": recorder.url,
        "headers": {"X-Api-Key": "canary1", "Authorization": "canary2"},
        "auth": {"schemes": {"k": {"type": "query", "token": "canary3"}}},
    }
    async with make_target(described, **settings) as target:
        await target.refresh()
        await target.source.call("api__go", {"X-Mine": "canary6", "sid": "canary7", "body": {"a": 1}}, Call())

    assert "canary1" in str(recorder.last)
    assert "canary" not in str(other.requests)
    kept = {"host", "accept", "accept-encoding", "connection", "user-agent"}
    body_headers = {"content-type", "content-length"} if status == 307 else set()
    assert other.last.headers.keys() == kept | body_headers
    assert other.last.body == (b'{"a":1}' if status == 307 else b"")


@pytest.mark.covers("GW-ISO-5")
async def test_the_next_page_of_an_answer_from_another_origin_is_not_asked_for(
    recorder: Recorder, other: Recorder, make_target: MakeTarget
) -> None:
    recorder.replies["/x"] = Reply(302, b"", {"Location": f"{other.url}/there"})
    other.default = json_reply([{"id": 1}], Link=f'<{other.url}/more>; rel="next"')
    described = document({"/x": {"get": operation()}})
    async with make_target(described, base_url=recorder.url, headers={"X-Api-Key": "canary"}) as target:
        await target.refresh()
        await target.source.call("api__go", {"_pages": 5}, Call())

    assert [request.target for request in other.requests] == ["/there"]
    assert "canary" not in str(other.requests)


@pytest.mark.covers("GW-ISO-5")
async def test_the_key_of_a_document_stays_with_its_origin(
    recorder: Recorder, other: Recorder, make_target: MakeTarget
) -> None:
    described = document({"/x": {"get": operation()}})
    recorder.replies["/spec"] = Reply(302, b"", {"Location": f"{other.url}/spec"})
    other.replies["/spec"] = json_reply(described)
    auth = {"type": "header", "header_name": "X-Api-Key", "token": "canary"}
    async with make_target(spec=f"{recorder.url}/spec", spec_auth=auth) as target:
        await target.refresh()
        loaded = len(target.source.entries())

    assert loaded == 1
    assert recorder.last.headers["x-api-key"] == "canary"
    assert "canary" not in str(other.requests)


@pytest.mark.covers("GW-ISO-5")
async def test_the_key_of_a_document_is_not_shown_to_whom_a_page_links(
    recorder: Recorder, other: Recorder, make_target: MakeTarget
) -> None:
    recorder.default = Reply(404, b"", {})
    recorder.replies["/"] = Reply(200, b"<p>", {"Link": f'<{other.url}/spec>; rel="service-desc"'})
    other.replies["/spec"] = json_reply(document({"/x": {"get": operation()}}))
    auth = {"type": "header", "header_name": "X-Api-Key", "token": "canary"}
    async with make_target(base_url=recorder.url, spec_auth=auth) as target:
        await target.refresh()

    assert recorder.requests[0].headers["x-api-key"] == "canary"
    assert other.requests
    assert "canary" not in str(other.requests)


@pytest.mark.covers("GW-ISO-5")
async def test_headers_bound_to_an_origin_come_back_with_it(recorder: Recorder, other: Recorder) -> None:
    recorder.replies["/a"] = Reply(302, b"", {"Location": f"{other.url}/b"})
    other.replies["/b"] = Reply(302, b"", {"Location": f"{recorder.url}/c"})
    secret = {"X-Api-Key": "canary"}
    async with open_client(bound=secret, origin=recorder.url, follow_redirects=True) as client:
        await client.get(f"{recorder.url}/a")

    sent = [request.headers.get("x-api-key") for request in (*recorder.requests, *other.requests)]
    assert sent == ["canary", "canary", None]


@pytest.mark.covers("GW-ISO-4")
@pytest.mark.parametrize(
    "schema",
    [
        {"patternProperties": {"^(a+)+$": {"type": "string"}}},
        {"patternProperties": {"^(a+)+$": {"type": "string"}}, "additionalProperties": False},
        {"patternProperties": {"^(a+)+$": {"type": "string"}}, "unevaluatedProperties": False},
        {"allOf": [{"patternProperties": {"^(a+)+$": {}}}], "unevaluatedProperties": False},
        {"propertyNames": {"pattern": "^(a+)+$"}},
        {"additionalProperties": {"pattern": "^(a+)+$", "format": "regex"}},
    ],
)
async def test_no_pattern_of_a_document_holds_up_a_call(
    schema: JsonObject, recorder: Recorder, make_target: MakeTarget
) -> None:
    body = {"content": {"application/json": {"schema": {"type": "object", **schema}}}}
    described = document({"/x": {"post": operation(requestBody=body)}})
    async with make_target(described, base_url=recorder.url) as target:
        await target.refresh()
        result = await target.source.call("api__go", {"body": {CATASTROPHE: CATASTROPHE}}, Call())

    assert not result.is_error
    assert schema_mismatch({"type": "object", **schema}, {CATASTROPHE: CATASTROPHE}) == []


@pytest.mark.covers("GW-ISO-4")
async def test_a_schema_too_intricate_to_check_lets_the_call_through_with_a_remark(
    recorder: Recorder, make_target: MakeTarget
) -> None:
    schemas: dict[str, object] = {"n0": {"type": "string"}}
    for level in range(1, 60):
        below = {"$ref": f"#/components/schemas/n{level - 1}"}
        schemas[f"n{level}"] = {"anyOf": [below, {**below}, {"type": "array", "items": below}]}
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/n59"}}}}
    described = document({"/x": {"post": operation(requestBody=body)}}, components={"schemas": schemas})
    recorder.default = lambda request: json_reply({"got": request.body.decode()})
    async with make_target(described, base_url=recorder.url) as target:
        await target.refresh()
        await target.source.call("api__go", {"body": {"a": 1}}, Call())

    assert recorder.last.body == b'{"a":1}'


def test_a_schema_is_never_looked_up_elsewhere() -> None:
    with pytest.raises(UncheckableError):
        Checker({"$ref": "http://127.0.0.1:9/schema"}).errors({})
