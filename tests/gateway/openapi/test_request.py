"""Every style, explode, location and body type, byte for byte, as a real server received it."""

from pathlib import Path

import pytest

from gateway.conftest import MakeTarget, Recorder, document
from ui_mcp.errors import InvalidArgumentsError, RefusedError
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.toolkit.tool import Call

ARRAY = [3, 4]
OBJECT = {"R": 1, "G": 2}


def parameter(where: str, style: str | None = None, explode: bool | None = None, **more: Json) -> JsonObject:
    rule = {"name": "color", "in": where, "required": where == "path", "schema": {}, **more}
    if style:
        rule["style"] = style
    if explode is not None:
        rule["explode"] = explode
    return rule


def one_operation(rule: JsonObject) -> Json:
    path = "/x/{color}" if rule["in"] == "path" else "/x"
    return document({path: {"get": {"operationId": "go", "parameters": [rule], "responses": {}}}})


PATHS = [
    ("simple", False, ARRAY, "/x/3,4"),
    ("simple", True, ARRAY, "/x/3,4"),
    ("simple", False, OBJECT, "/x/R,1,G,2"),
    ("simple", True, OBJECT, "/x/R=1,G=2"),
    ("label", False, ARRAY, "/x/.3,4"),
    ("label", True, ARRAY, "/x/.3.4"),
    ("label", False, OBJECT, "/x/.R,1,G,2"),
    ("label", True, OBJECT, "/x/.R=1.G=2"),
    ("matrix", False, ARRAY, "/x/;color=3,4"),
    ("matrix", True, ARRAY, "/x/;color=3;color=4"),
    ("matrix", False, OBJECT, "/x/;color=R,1,G,2"),
    ("matrix", True, OBJECT, "/x/;R=1;G=2"),
    ("simple", False, "a/b c", "/x/a%2Fb%20c"),
    ("simple", False, ["a,b", "c"], "/x/a%2Cb,c"),
    ("label", False, 5, "/x/.5"),
    ("matrix", False, 5, "/x/;color=5"),
    ("simple", False, True, "/x/true"),
    ("simple", False, "é", "/x/%C3%A9"),
]
QUERIES = [
    ("form", True, ARRAY, "/x?color=3&color=4"),
    ("form", False, ARRAY, "/x?color=3,4"),
    ("form", True, OBJECT, "/x?R=1&G=2"),
    ("form", False, OBJECT, "/x?color=R,1,G,2"),
    ("spaceDelimited", False, ARRAY, "/x?color=3%204"),
    ("spaceDelimited", False, OBJECT, "/x?color=R%201%20G%202"),
    ("pipeDelimited", False, ARRAY, "/x?color=3%7C4"),
    ("pipeDelimited", False, OBJECT, "/x?color=R%7C1%7CG%7C2"),
    ("pipeDelimited", True, ARRAY, "/x?color=3&color=4"),
    ("deepObject", True, OBJECT, "/x?color%5BR%5D=1&color%5BG%5D=2"),
    ("deepObject", True, {"b": {"c": "v"}}, "/x?color%5Bb%5D%5Bc%5D=v"),
    ("deepObject", True, {"b": [1, 2]}, "/x?color%5Bb%5D%5B0%5D=1&color%5Bb%5D%5B1%5D=2"),
    ("form", True, "a b&c+d/é", "/x?color=a%20b%26c%2Bd%2F%C3%A9"),
    ("form", True, False, "/x?color=false"),
    ("form", True, 1.5, "/x?color=1.5"),
    ("form", False, ["a,b", "c"], "/x?color=a%2Cb,c"),
    ("form", True, [], "/x"),
    ("form", True, None, "/x"),
]


@pytest.mark.covers("GW-REQ-1", "GW-REQ-3")
@pytest.mark.parametrize(("style", "explode", "value", "sent"), PATHS)
async def test_path_values_are_written_by_style(
    style: str, explode: bool, value: Json, sent: str, recorder: Recorder, make_target: MakeTarget
) -> None:
    async with make_target(one_operation(parameter("path", style, explode)), base_url=recorder.url) as target:
        await target.refresh()

        await target.source.call("api__go", {"color": value}, Call())

    assert recorder.last.line == f"GET {sent} HTTP/1.1"


@pytest.mark.covers("GW-REQ-1", "GW-REQ-2", "GW-REQ-4")
@pytest.mark.parametrize(("style", "explode", "value", "sent"), QUERIES)
async def test_query_values_are_written_by_style(
    style: str, explode: bool, value: Json, sent: str, recorder: Recorder, make_target: MakeTarget
) -> None:
    async with make_target(one_operation(parameter("query", style, explode)), base_url=recorder.url) as target:
        await target.refresh()

        await target.source.call("api__go", {"color": value}, Call())

    assert recorder.last.line == f"GET {sent} HTTP/1.1"


@pytest.mark.covers("GW-REQ-2")
async def test_reserved_characters_stay_where_the_document_allows_them(
    recorder: Recorder, make_target: MakeTarget
) -> None:
    rule = parameter("query", allowReserved=True)
    async with make_target(one_operation(rule), base_url=recorder.url) as target:
        await target.refresh()

        await target.source.call("api__go", {"color": ":/?@!$'()*,;=#[]&+ é"}, Call())

    assert recorder.last.target == "/x?color=:/?@!$'()*,;=%23%5B%5D%26%2B%20%C3%A9"


@pytest.mark.covers("GW-REQ-1")
async def test_a_query_value_with_a_media_type_is_json_text(recorder: Recorder, make_target: MakeTarget) -> None:
    rule = {"name": "color", "in": "query", "content": {"application/json": {"schema": {}}}}
    async with make_target(one_operation(rule), base_url=recorder.url) as target:
        await target.refresh()

        await target.source.call("api__go", {"color": ARRAY}, Call())

    assert recorder.last.target == "/x?color=%5B3%2C4%5D"


@pytest.mark.covers("GW-REQ-1")
@pytest.mark.parametrize(
    ("explode", "value", "sent"),
    [(False, ARRAY, "3,4"), (False, OBJECT, "R,1,G,2"), (True, OBJECT, "R=1,G=2"), (False, "plain text", "plain text")],
)
async def test_header_values_are_simple(
    explode: bool, value: Json, sent: str, recorder: Recorder, make_target: MakeTarget
) -> None:
    async with make_target(one_operation(parameter("header", None, explode)), base_url=recorder.url) as target:
        await target.refresh()

        await target.source.call("api__go", {"color": value}, Call())

    assert recorder.last.headers["color"] == sent


@pytest.mark.covers("GW-REQ-1")
@pytest.mark.parametrize(("value", "sent"), [(ARRAY, "color=3%2C4"), (OBJECT, "color=R%2C1%2CG%2C2"), ("x", "color=x")])
async def test_cookie_values_hold_no_bare_commas(
    value: Json, sent: str, recorder: Recorder, make_target: MakeTarget
) -> None:
    async with make_target(one_operation(parameter("cookie")), base_url=recorder.url) as target:
        await target.refresh()

        await target.source.call("api__go", {"color": value}, Call())

    assert recorder.last.headers["cookie"] == sent


@pytest.mark.covers("GW-REQ-3")
@pytest.mark.parametrize("value", ["..", ".", ""])
async def test_a_path_value_that_climbs_is_refused_before_sending(
    value: Json, recorder: Recorder, make_target: MakeTarget
) -> None:
    async with make_target(one_operation(parameter("path")), base_url=recorder.url) as target:
        await target.refresh()

        with pytest.raises(InvalidArgumentsError):
            await target.source.call("api__go", {"color": value}, Call())

    assert recorder.requests == []


@pytest.mark.covers("GW-REQ-3")
async def test_a_header_value_with_a_line_break_is_refused(recorder: Recorder, make_target: MakeTarget) -> None:
    async with make_target(one_operation(parameter("header")), base_url=recorder.url) as target:
        await target.refresh()

        with pytest.raises(InvalidArgumentsError):
            await target.source.call("api__go", {"color": "a\r\nX: y"}, Call())

    assert recorder.requests == []


def posting(content: JsonObject, required: bool = True) -> Json:
    body = {"required": required, "content": content}
    return document({"/x": {"post": {"operationId": "go", "requestBody": body, "responses": {}}}})


BODIES = [
    ("application/json", {}, {"a": None, "b": "é"}, '{"a":null,"b":"é"}'.encode(), "application/json"),
    ("application/merge-patch+json", {}, {"a": None}, b'{"a":null}', "application/merge-patch+json"),
    ("application/vnd.x+json", {}, [1], b"[1]", "application/vnd.x+json"),
    ("*/*", {}, {"a": 1}, b'{"a":1}', "application/json"),
    ("text/plain", {}, "é", "é".encode(), "text/plain"),
    ("application/xml", {}, "<a/>", b"<a/>", "application/xml"),
    ("application/octet-stream", {}, {"base64": "AAEC"}, b"\x00\x01\x02", "application/octet-stream"),
    ("image/png", {}, {"text": "png", "content_type": "image/png"}, b"png", "image/png"),
    ("application/x-www-form-urlencoded", {}, {"a": "b c&d", "e": ["1", "2"]}, b"a=b+c%26d&e=1&e=2", None),
    ("application/x-www-form-urlencoded", {}, {"o": {"k": 1}, "n": None}, b"o=%7B%22k%22%3A1%7D&n=", None),
    (
        "application/x-www-form-urlencoded",
        {"encoding": {"m": {"style": "deepObject", "explode": True}, "items": {"style": "deepObject"}}},
        {"m": {"k": "v"}, "items": [{"price": "x"}]},
        b"m%5Bk%5D=v&items%5B0%5D%5Bprice%5D=x",
        None,
    ),
    (
        "application/x-www-form-urlencoded",
        {"encoding": {"a": {"style": "form", "explode": False}, "j": {"contentType": "application/json"}}},
        {"a": [1, 2], "j": [1]},
        b"a=1%2C2&j=%5B1%5D",
        None,
    ),
]


@pytest.mark.covers("GW-REQ-4", "GW-REQ-5", "GW-REQ-6")
@pytest.mark.parametrize(("kind", "more", "body", "sent", "typed"), BODIES)
async def test_bodies_are_written_by_media_type(
    kind: str, more: JsonObject, body: Json, sent: bytes, typed: str | None, recorder: Recorder, make_target: MakeTarget
) -> None:
    async with make_target(posting({kind: {"schema": {}, **more}}), base_url=recorder.url) as target:
        await target.refresh()

        await target.source.call("api__go", {"body": body}, Call())

    assert (recorder.last.body, recorder.last.headers["content-type"]) == (sent, typed or kind)


PNG = {"base64": "iVBORw0KGgo=", "filename": "a.png"}


@pytest.mark.covers("GW-REQ-12")
@pytest.mark.parametrize(
    ("declared", "file", "typed"),
    [
        (["application/octet-stream"], PNG, "application/octet-stream"),
        (["application/octet-stream"], {**PNG, "content_type": "image/png"}, "application/octet-stream"),
        (["image/jpeg", "image/png"], PNG, "image/png"),
        (["image/*"], PNG, "image/png"),
        (["text/csv; header=present"], {"text": "a,b", "filename": "a.csv"}, "text/csv; header=present"),
    ],
)
async def test_a_file_has_the_type_that_the_document_declares(
    declared: list[str], file: Json, typed: str, recorder: Recorder, make_target: MakeTarget
) -> None:
    binary = {"schema": {"type": "string", "format": "binary"}}
    content = dict.fromkeys(declared, binary)
    parts = {"type": "object", "properties": {"f": {"type": "string", "format": "binary"}}}
    form = {"schema": parts, "encoding": {"f": {"contentType": ", ".join(declared)}}}
    async with make_target(
        document(
            {"/x": {"post": asking(content, "whole")}, "/y": {"post": asking({"multipart/form-data": form}, "part")}}
        ),
        base_url=recorder.url,
    ) as target:
        await target.refresh()
        await target.source.call("api__whole", {"body": file if not typed.startswith("text") else file["text"]}, Call())
        whole = recorder.last.headers["content-type"]
        await target.source.call("api__part", {"body": {"f": file}}, Call())

    assert whole == typed
    assert f"Content-Type: {typed.partition(';')[0]}\r\n".encode() in recorder.last.body


def asking(content: JsonObject, name: str) -> JsonObject:
    return {"operationId": name, "requestBody": {"content": content}, "responses": {}}


@pytest.mark.covers("GW-REQ-7")
async def test_multipart_carries_files_objects_and_repeated_parts(
    recorder: Recorder, make_target: MakeTarget, tmp_path: Path
) -> None:
    (tmp_path / "cat.png").write_bytes(b"\x89PNG")
    binary = {"type": "string", "format": "binary"}
    schema = {
        "type": "object",
        "properties": {
            "photo": binary,
            "more": {"type": "array", "items": binary},
            "meta": {"type": "object"},
            "n": {},
        },
    }
    content = {"multipart/form-data": {"schema": schema, "encoding": {"n": {"contentType": "text/csv"}}}}
    async with make_target(posting(content), base_url=recorder.url, files={"roots": [str(tmp_path)]}) as target:
        await target.refresh()
        body = {
            "photo": {"path": str(tmp_path / "cat.png")},
            "more": [{"text": "one", "filename": "1.txt"}, {"base64": "AA==", "content_type": "x/y"}],
            "meta": {"k": 1},
            "n": "a,b",
        }

        await target.source.call("api__go", {"body": body}, Call())

    kind, _, boundary = recorder.last.headers["content-type"].partition("; boundary=")
    parts = recorder.last.body.split(b"--" + boundary.encode())
    assert kind == "multipart/form-data"
    lead = b"\r\nContent-Disposition: form-data; name="
    assert parts[1:] == [
        lead + b'"photo"; filename="cat.png"\r\nContent-Type: image/png\r\n\r\n\x89PNG\r\n',
        lead + b'"more"; filename="1.txt"\r\nContent-Type: text/plain; charset=utf-8\r\n\r\none\r\n',
        lead + b'"more"; filename="more"\r\nContent-Type: x/y\r\n\r\n\x00\r\n',
        lead + b'"meta"\r\nContent-Type: application/json\r\n\r\n{"k":1}\r\n',
        lead + b'"n"\r\nContent-Type: text/csv\r\n\r\na,b\r\n',
        b"--\r\n",
    ]


@pytest.mark.covers("GW-REQ-7")
async def test_a_file_outside_the_roots_is_refused(recorder: Recorder, make_target: MakeTarget, tmp_path: Path) -> None:
    content = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
    async with make_target(posting(content), base_url=recorder.url, files={"roots": [str(tmp_path / "in")]}) as target:
        await target.refresh()

        with pytest.raises(RefusedError, match=r"files\.roots"):
            await target.source.call("api__go", {"body": {"path": str(tmp_path / "in/../secret")}}, Call())

    assert recorder.requests == []


@pytest.mark.covers("GW-LOD-8", "GW-REQ-6")
async def test_version_2_form_fields_and_collections_are_sent_as_declared(
    recorder: Recorder, make_target: MakeTarget
) -> None:
    spec = {
        "swagger": "2.0",
        "info": {"title": "Two", "version": "1"},
        "basePath": "/v1",
        "paths": {
            "/x": {
                "post": {
                    "operationId": "go",
                    "consumes": ["application/x-www-form-urlencoded", "application/json"],
                    "parameters": [
                        {"name": "q", "in": "query", "type": "array", "items": {"type": "string"}},
                        {"name": "p", "in": "query", "type": "array", "items": {}, "collectionFormat": "pipes"},
                        {"name": "m", "in": "query", "type": "array", "items": {}, "collectionFormat": "multi"},
                        {"name": "f", "in": "formData", "type": "string", "required": True},
                        {"name": "token", "in": "header", "type": "string"},
                    ],
                }
            }
        },
    }
    async with make_target(spec, base_url=f"{recorder.url}/v1") as target:
        await target.refresh()

        await target.source.call(
            "api__go", {"q": ["a", "b"], "p": [1, 2], "m": [1, 2], "token": "t", "body": {"f": "v w"}}, Call()
        )

    assert recorder.last.line == "POST /v1/x?q=a,b&p=1%7C2&m=1&m=2 HTTP/1.1"
    assert (recorder.last.body, recorder.last.headers["token"]) == (b"f=v+w", "t")


@pytest.mark.covers("GW-LOD-9")
async def test_version_3_2_query_method_and_querystring(recorder: Recorder, make_target: MakeTarget) -> None:
    where = {"name": "all", "in": "querystring", "content": {"application/x-www-form-urlencoded": {"schema": {}}}}
    spec = document(
        {
            "/x": {
                "query": {"operationId": "ask", "requestBody": {"content": {"application/json": {"schema": {}}}}},
                "get": {"operationId": "go", "parameters": [where]},
                "additionalOperations": {"COPY": {"operationId": "copy"}},
            }
        }
    )
    async with make_target({**spec, "openapi": "3.2.0"}, base_url=recorder.url) as target:
        await target.refresh()

        await target.source.call("api__ask", {"body": {"a": 1}}, Call())
        await target.source.call("api__go", {"all": {"a b": "c"}}, Call())
        await target.source.call("api__copy", {}, Call())

    assert [request.line for request in recorder.requests] == [
        "QUERY /x HTTP/1.1",
        "GET /x?a%20b=c HTTP/1.1",
        "COPY /x HTTP/1.1",
    ]
    assert recorder.requests[0].body == b'{"a":1}'
