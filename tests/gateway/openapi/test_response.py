"""Answers: structured and text alike, images, files, errors, cut rows with a handle, pages, retries."""

import gzip
import sys
import zlib
from collections.abc import Callable

import brotli
import pytest

from gateway.conftest import MakeTarget
from ui_mcp.gateway.results import ResultStore

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

from gateway.conftest import Recorded, Recorder, Reply, document, json_reply
from ui_mcp.errors import UpstreamError
from ui_mcp.gateway.openapi.live import LiveTarget
from ui_mcp.gateway.openapi.send import retry_delay
from ui_mcp.gateway.results import pick, trim
from ui_mcp.jsontypes import Json, JsonObject, loads
from ui_mcp.toolkit.tool import Call, Media, Relayed, Text, ToolResult

PAGED = [{"name": "page", "in": "query", "schema": {"type": "integer"}}]


def api(parameters: Json = ()) -> Json:
    operation = {"operationId": "go", "parameters": list(parameters), "responses": {}}
    return document({"/x": {"get": operation, "post": {"operationId": "make", "responses": {}}}})


async def answer(
    recorder: Recorder,
    make_target: MakeTarget,
    reply: Reply | Callable[[Recorded], Reply],
    tool: str = "go",
    **arguments: Json,
) -> ToolResult:
    recorder.default = reply
    async with make_target(api(PAGED), base_url=recorder.url) as target:
        await target.refresh()
        return await target.source.call(f"api__{tool}", arguments, Call())


def text(result: ToolResult) -> str:
    first = result.content[0]
    assert isinstance(first, Text)
    return first.text


@pytest.mark.covers("GW-RES-1", "GW-RES-2")
async def test_json_is_structured_and_the_same_as_text(recorder: Recorder, make_target: MakeTarget) -> None:
    result = await answer(recorder, make_target, json_reply({"a": [1, "é"]}))

    assert result.structured == {"a": [1, "é"]} == loads(text(result))
    assert result.meta is not None
    assert result.meta["ui-mcp/http"]["status"] == 200


@pytest.mark.covers("GW-RES-1")
async def test_a_json_array_is_wrapped(recorder: Recorder, make_target: MakeTarget) -> None:
    assert (await answer(recorder, make_target, json_reply([1, 2]))).structured == {"result": [1, 2]}


@pytest.mark.covers("GW-RES-3")
@pytest.mark.parametrize("listed", [True, False])
async def test_an_answer_that_differs_from_its_schema_is_delivered_with_a_note(
    listed: bool, recorder: Recorder, make_target: MakeTarget
) -> None:
    boat = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string", "description": "Hers."}}}
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/B"}}}
    operation = {"operationId": "go", "responses": {"200": {"description": "", "content": content}}}
    boats = document({"/x": {"get": operation}}, components={"schemas": {"B": boat}})
    recorder.default = json_reply({"name": 3})
    async with make_target(boats, base_url=recorder.url, output_schemas=listed) as target:
        await target.refresh()
        result = await target.source.call("api__go", {}, Call())
        shown = target.source.entries()[0].tool.output_schema

    assert result.structured == {"name": 3}
    assert (result.meta or {}).get("ui-mcp/schema_drift") == (["name: 3 is not of type 'string'"] if listed else None)
    loose = {"type": "object", "properties": {"name": {"description": "string: Hers."}}}
    assert shown == (loose if listed else None)


@pytest.mark.covers("GW-RES-7")
@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress),
        ("deflate", zlib.compress),
        ("br", brotli.compress),
        ("zstd", zstd.compress),
        ("identity", bytes),
    ],
)
async def test_packed_answers_are_unpacked(
    encoding: str, packed: Callable[[bytes], bytes], recorder: Recorder, make_target: MakeTarget
) -> None:
    headers = {"Content-Type": "application/json", "Content-Encoding": encoding}
    result = await answer(recorder, make_target, Reply(200, packed(b'{"a": "\xc3\xa9"}'), headers))

    assert result.structured == {"a": "é"}
    assert set(recorder.last.headers["accept-encoding"].split(", ")) == {"gzip", "deflate", "br", "zstd"}


@pytest.mark.covers("GW-RES-7")
async def test_an_answer_packed_in_an_unknown_way_says_so(recorder: Recorder, make_target: MakeTarget) -> None:
    headers = {"Content-Type": "application/json", "Content-Encoding": "lzma"}
    with pytest.raises(UpstreamError, match="packed as lzma"):
        await answer(recorder, make_target, Reply(200, b"??", headers))


@pytest.mark.covers("GW-CNV-10")
async def test_a_raw_answer_is_the_body_as_it_came(recorder: Recorder, make_target: MakeTarget) -> None:
    body = b'{"b": 1,\n  "a": [1, 2, 3]}'
    result = await answer(recorder, make_target, Reply(200, body), _raw=True, _max_rows=1)

    assert result.content == (Text(body.decode()),)
    assert result.structured is None


@pytest.mark.covers("GW-RES-1")
async def test_an_image_is_an_image_without_structure(recorder: Recorder, make_target: MakeTarget) -> None:
    result = await answer(recorder, make_target, Reply(200, b"\x89PNG", {"Content-Type": "image/png"}))

    assert result == ToolResult((Media("image", b"\x89PNG", "image/png"),), meta=result.meta)


@pytest.mark.covers("GW-RES-1")
async def test_small_files_are_embedded_and_large_ones_linked(recorder: Recorder, make_target: MakeTarget) -> None:
    kind = {"Content-Type": "application/zip"}
    small = await answer(recorder, make_target, Reply(200, b"\0PK", kind))
    large = await answer(recorder, make_target, Reply(200, b"\0" * 1_100_000, kind))

    assert isinstance(small.content[0], Relayed)
    assert small.content[0].block["resource"]["blob"] == "AFBL"
    assert isinstance(large.content[0], Relayed)
    assert large.content[0].block["type"] == "resource_link"
    assert large.content[0].block["size"] == 1_100_000


@pytest.mark.covers("GW-RES-1")
async def test_nothing_says_its_status(recorder: Recorder, make_target: MakeTarget) -> None:
    result = await answer(recorder, make_target, Reply(204, b"", {}))

    assert (text(result), result.structured) == ("HTTP 204", {"status": 204})


@pytest.mark.covers("GW-RES-1")
async def test_ndjson_becomes_rows(recorder: Recorder, make_target: MakeTarget) -> None:
    result = await answer(
        recorder, make_target, Reply(200, b'{"a":1}\n{"a":2}\n', {"Content-Type": "application/x-ndjson"})
    )

    assert result.structured == {"result": [{"a": 1}, {"a": 2}]}


@pytest.mark.covers("GW-RES-1")
async def test_an_error_is_an_error_with_its_body_and_hints(recorder: Recorder, make_target: MakeTarget) -> None:
    problem = json_reply({"title": "Too many", "detail": "slow down"}, 422, Retry_After="7", X_RateLimit_Left="0")

    result = await answer(recorder, make_target, problem, "make")

    assert result.is_error
    lines = text(result).split("\n")
    assert lines[0] == "HTTP 422 Reason"
    assert {"retry-after: 7", "x-ratelimit-left: 0", "Too many: slow down"} <= set(lines)


@pytest.mark.covers("GW-REQ-10")
async def test_a_busy_server_is_asked_again_but_only_for_what_may_be_repeated(
    recorder: Recorder, make_target: MakeTarget
) -> None:
    calls: list[Recorded] = []

    def busy_once(request: Recorded) -> Reply:
        calls.append(request)
        return json_reply({}, 503, Retry_After="0") if len(calls) == 1 else json_reply({"ok": True})

    assert (await answer(recorder, make_target, busy_once)).structured == {"ok": True}
    calls.clear()
    assert (await answer(recorder, make_target, busy_once, "make")).is_error


@pytest.mark.covers("GW-REQ-10")
@pytest.mark.parametrize(
    ("header", "wait"),
    [("3", 3.0), ("31", None), (None, 0.5), ("soon", 0.5), ("Mon, 99999999999999999999 Jan 2024 00:00:00 GMT", 0.5)],
)
def test_patience_with_a_busy_server_has_a_limit(header: str | None, wait: float | None) -> None:
    assert retry_delay(header, 0) == wait


@pytest.mark.covers("GW-REQ-10")
async def test_credentials_do_not_follow_a_redirect_to_another_origin(
    recorder: Recorder, make_target: MakeTarget
) -> None:
    other = recorder.url.replace("127.0.0.1", "localhost")
    recorder.replies["/x"] = Reply(307, b"", {"Location": f"{other}/y"})
    async with make_target(api(), base_url=recorder.url, auth={"type": "bearer", "token": "t0p-secret"}) as target:
        await target.refresh()
        await target.source.call("api__go", {}, Call())

    assert [("authorization" in request.headers) for request in recorder.requests] == [True, False]


@pytest.mark.covers("GW-RES-1")
async def test_an_unreachable_server_is_reported_with_what_to_check(make_target: MakeTarget) -> None:
    async with make_target(api(), base_url="http://127.0.0.1:9") as target:
        await target.refresh()
        with pytest.raises(UpstreamError, match="refused") as caught:
            await target.source.call("api__make", {}, Call())

    assert "base_url" in caught.value.message


@pytest.mark.covers("GW-RES-4")
async def test_long_arrays_are_cut_by_row_and_the_rest_stays_readable(
    recorder: Recorder, make_target: MakeTarget
) -> None:
    rows = [{"id": number, "text": "x" * 100} for number in range(2000)]
    recorder.default = json_reply({"items": rows, "total": 2000})
    async with make_target(api(), base_url=recorder.url) as target:
        await target.refresh()
        result = await target.source.call("api__go", {}, Call())
        shown: JsonObject = result.structured or {}
        kept = await _store(target).read(shown["handle"], "local")

    assert shown["truncated"] == {"path": "items", "shown": len(shown["items"]), "total": 2000}
    assert 0 < len(shown["items"]) <= 200
    assert shown["total"] == 2000
    assert kept.json()["items"] == rows


def _store(target: LiveTarget) -> ResultStore:
    return target._store


@pytest.mark.covers("GW-RES-6")
async def test_only_the_asked_fields_come_back(recorder: Recorder, make_target: MakeTarget) -> None:
    reply = json_reply({"items": [{"id": 1, "x": 2}], "total": 1, "more": {}})

    result = await answer(recorder, make_target, reply, _fields=["items[].id", "total"])

    assert result.structured == {"items": [{"id": 1}], "total": 1}


@pytest.mark.covers("GW-RES-5")
async def test_pages_are_followed_and_joined(recorder: Recorder, make_target: MakeTarget) -> None:
    def page(request: Recorded) -> Reply:
        number = int(request.target.partition("page=")[2] or 1)
        link = {"Link": f'<{recorder.url}/x?page={number + 1}>; rel="next"'} if number < 3 else {}
        return json_reply([{"n": number}], 200, **link)

    result = await answer(recorder, make_target, page, _pages=10)

    assert result.structured == {"result": [{"n": 1}, {"n": 2}, {"n": 3}], "pages": 3, "next": None}


@pytest.mark.covers("GW-RES-5")
async def test_pages_are_counted_up_where_nothing_links_to_them(recorder: Recorder, make_target: MakeTarget) -> None:
    def page(request: Recorded) -> Reply:
        number = int(request.target.partition("page=")[2] or 1)
        return json_reply({"data": [{"n": number}] if number < 3 else []})

    result = await answer(recorder, make_target, page, _pages=10)

    assert result.structured == {"result": [{"n": 1}, {"n": 2}], "pages": 3, "next": None}


@pytest.mark.covers("GW-REL-4")
async def test_a_dry_run_sends_nothing_and_shows_no_secret(recorder: Recorder, make_target: MakeTarget) -> None:
    async with make_target(api(PAGED), base_url=recorder.url, auth={"type": "bearer", "token": "t0p-secret"}) as target:
        await target.refresh()
        given = {"page": 2, "_dry_run": True}
        wanted = target.source.is_dry_run("api__go", given, Call())
        shown = (await target.source.preview("api__go", given, Call())).shown or {}

    assert wanted
    assert recorder.requests == []
    assert (shown["method"], shown["url"]) == ("GET", f"{recorder.url}/x?page=2")
    assert shown["headers"]["Authorization"] == "•••"
    assert "t0p-secret" not in str(shown)


def test_trimming_keeps_valid_rows_and_says_what_was_left_out() -> None:
    cut = trim({"a": [{"t": "y" * 50}] * 100, "b": 1}, 1000, 200)

    assert 0 < len(cut.value["a"]) < 100
    assert (cut.cuts[0].path, cut.cuts[0].total) == ("a", 100)
    assert trim([1, 2], 1000, 200).cuts == ()


def test_picking_reaches_into_arrays() -> None:
    assert pick([{"a": {"b": 1, "c": 2}}], ["a.b"]) == [{"a": {"b": 1}}]
