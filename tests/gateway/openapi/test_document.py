"""Every document loads as it is, every operation becomes a callable tool, nothing is lost and nothing dangles."""

import re
from functools import cache
from pathlib import Path

import anyio
import pytest
from jsonschema import Draft202012Validator

from gateway.conftest import MakeTarget, Recorder
from gateway.documents import HARBOUR, documents
from gateway.sample_calls import arguments_for
from ui_mcp.errors import InvalidArgumentsError, UiMcpError
from ui_mcp.gateway.config.settings import TargetSettings
from ui_mcp.gateway.openapi.arguments import ArgumentCheck
from ui_mcp.gateway.openapi.bundle import references
from ui_mcp.gateway.openapi.document import Document, load
from ui_mcp.gateway.openapi.fetch import Fetcher
from ui_mcp.gateway.openapi.model import Api, Operation
from ui_mcp.gateway.openapi.operations import METHODS, read_api
from ui_mcp.gateway.openapi.payload import EncodingOptions
from ui_mcp.gateway.openapi.request import build
from ui_mcp.gateway.openapi.tools import build_tools
from ui_mcp.jsontypes import Json, JsonObject, dumps
from ui_mcp.toolkit.tool import Call
from ui_mcp.validation import read


async def loaded(path: Path) -> Document:
    async with Fetcher(str(path)) as fetcher:
        root = await fetcher.root()
        assert root is not None
        return await load(fetcher, root)


@cache
def read_once(path: Path) -> Document:
    return anyio.run(loaded, path)


@pytest.fixture(params=documents(), ids=lambda path: path.name)
def document(request: pytest.FixtureRequest) -> Document:
    return read_once(request.param)


@pytest.fixture
def harbour() -> Api:
    return read_api(read_once(HARBOUR))


def operation(api: Api, operation_id: str) -> Operation:
    return next(found for found in api.operations if found.operation_id == operation_id)


def declared_operations(document: Document) -> set[tuple[str, str]]:
    """Count the operations by hand, without the code under test."""
    found = set()
    for path in document.files[document.location]["paths"]:
        try:
            item = document.follow(document.root.at("paths", path)).value
        except UiMcpError:
            continue
        if path.startswith("/"):
            found |= {(method.upper(), path) for method in item if method in METHODS}
    return found


@pytest.mark.covers("GW-CNV-1", "GW-LOD-1", "GW-LOD-2", "GW-CNV-11", "GW-PRF-1")
def test_every_operation_becomes_a_tool_with_a_name_of_its_own(document: Document) -> None:
    api = read_api(document)

    tools = build_tools(TargetSettings(name="api", set_auth=False), api)

    known = {(found.method, found.path) for found in api.operations}
    skipped = {tuple(note.operation.split(" ")) for note in api.skipped}
    assert known | skipped >= declared_operations(document)
    assert len(tools.entries) == len(api.operations) == len({entry.name for entry in tools.entries})
    assert all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", entry.name) for entry in tools.entries)


@pytest.mark.covers("GW-CNV-6", "GW-CNV-8", "GW-CNV-11")
def test_every_schema_is_valid_self_contained_and_listed_within_its_budget(document: Document) -> None:
    api = read_api(document)
    tools = build_tools(TargetSettings(name="api"), api)

    for found in api.operations:
        Draft202012Validator.check_schema(found.input_schema)
        held = found.input_schema.get("$defs", {})
        assert (
            set(references(found.input_schema)) | {n for one in held.values() for n in references(one)} <= held.keys()
        )
        assert found.input_schema.keys() <= {"type", "properties", "required", "$defs"}
    for entry in tools.entries:
        Draft202012Validator.check_schema(entry.tool.input_schema)
        full = tools.operations[entry.name].input_schema if entry.name in tools.operations else {}
        assert set(full.get("required", ())) <= set(entry.tool.input_schema.get("properties", {})) | {"token"}


@pytest.mark.covers("GW-CNV-3", "GW-CNV-11")
def test_no_parameter_is_lost(document: Document) -> None:
    for found in read_api(document).operations:
        arguments = {parameter.argument for parameter in found.parameters}
        assert arguments <= found.input_schema["properties"].keys()
        assert len(arguments) == len(found.parameters)
        assert set(re.findall(r"\{([^{}]+)\}", found.path)) == {
            parameter.name for parameter in found.parameters if parameter.location == "path"
        }


@pytest.mark.covers("GW-CNV-1", "GW-CNV-9")
def test_a_made_up_call_of_every_operation_becomes_a_request(document: Document) -> None:
    for found in read_api(document).operations:
        arguments = arguments_for(found.input_schema)
        checked = ArgumentCheck(found, "warn").check(arguments, {})

        request = build(
            found, {**checked.arguments, **_forms(found, checked.arguments)}, "http://api.example", EncodingOptions()
        )

        template = re.escape(found.path.split("#")[0]).replace(r"\{", "{").replace(r"\}", "}")
        pattern = re.sub(r"\{[^{}]+\}", ".+", template)
        assert re.fullmatch(pattern, request.path), (found.path, request.path)
        assert request.method == found.method


def _forms(found: Operation, arguments: Json) -> Json:
    """A body that must be an object is one, whatever its schema left open."""
    structured = found.body is not None and not isinstance(arguments.get("body"), dict)
    first = found.body.variants[0].media_type if found.body else ""
    return {"body": {}} if structured and ("form" in first or "multipart" in first) else {}


async def test_a_real_call_of_every_operation_arrives_where_the_document_says(
    recorder: Recorder, make_target: MakeTarget
) -> None:
    async with make_target(spec=str(HARBOUR), base_url=recorder.url, validate="warn") as target:
        await target.refresh()
        for entry in target.source.entries():
            if entry.method:
                full = (await target.source.describe(entry.name))["input_schema"]
                await target.source.call(entry.name, arguments_for(full), Call())

    assert len(recorder.requests) == len([entry for entry in target.source.entries() if entry.method])


@pytest.mark.covers("GW-LOD-3")
def test_yaml_words_dates_and_codes_stay_text(harbour: Api) -> None:
    flag = operation(harbour, "ships/list").input_schema["properties"]["flag"]

    assert harbour.version == "2022-11-15"
    assert flag["enum"] == ["on", "off", "no", "017"]


@pytest.mark.covers("GW-LOD-4")
def test_schema_quirks_are_repaired(harbour: Api) -> None:
    ship = operation(harbour, "ships/replace").input_schema["$defs"]["Ship"]

    assert ship["properties"]["size"] == {"type": ["number", "null"], "exclusiveMinimum": 0}
    assert ship["required"] == ["name", "owner"]
    assert "enum" not in ship["properties"]["kind"]
    assert operation(harbour, "ships/list").input_schema["properties"]["per_page"]["exclusiveMaximum"] == 100


@pytest.mark.covers("GW-CNV-7")
def test_read_only_fields_leave_requests_and_tags_become_constants(harbour: Api) -> None:
    ship = operation(harbour, "ships/replace").input_schema["$defs"]["Ship"]["properties"]

    assert "id" not in ship
    assert [branch["properties"]["sort"] for branch in ship["cargo"]["oneOf"]] == [{"const": "oil"}, {"const": "grain"}]
    assert set(ship["captain"]["properties"]) == {"name", "boss", "licence"}


@pytest.mark.covers("GW-LOD-5")
def test_recursion_stays_a_reference_and_a_dangling_one_is_empty(harbour: Api) -> None:
    found = operation(harbour, "ships/replace")

    assert found.input_schema["$defs"]["Ship"]["properties"]["tows"]["items"] == {"$ref": "#/$defs/Ship"}
    assert found.input_schema["$defs"]["Ship"]["properties"]["lost"] == {}
    created = operation(harbour, "ships/create")
    assert "dangling_reference" in {note.code for note in created.notes}
    assert created.status == "degraded"


@pytest.mark.covers("GW-LOD-5")
def test_a_property_called_ref_is_a_property(harbour: Api) -> None:
    schema = operation(harbour, "schemas/check").input_schema["$defs"]["JsonSchema"]

    assert schema["properties"]["$ref"] == {"type": "string"}
    assert schema["properties"]["properties"]["additionalProperties"] == {"$ref": "#/$defs/JsonSchema"}


@pytest.mark.covers("GW-CNV-3")
def test_the_same_name_in_two_places_becomes_two_arguments(harbour: Api) -> None:
    assert set(operation(harbour, "ships/get").input_schema["properties"]) == {"ship_id", "ship_id__query"}


@pytest.mark.covers("GW-CNV-3")
def test_headers_that_are_ours_are_not_arguments(harbour: Api) -> None:
    berths = operation(harbour, "berths-list")

    assert set(berths.input_schema["properties"]) == {"filter", "created[gte]", "X-Tenant", "session"}
    assert {note.code for note in berths.notes} == {"bad_parameter", "dangling_reference"}


@pytest.mark.covers("GW-CNV-5")
def test_json_is_preferred_and_cbor_is_never_sent(harbour: Api) -> None:
    body = operation(harbour, "ships/create").body

    assert body is not None
    assert [variant.media_type for variant in body.variants] == ["application/json", "application/xml"]


@pytest.mark.covers("GW-LOD-2")
def test_a_broken_part_leaves_the_others_standing(harbour: Api) -> None:
    report = harbour.report()

    by_name = {entry["operation"]: entry["status"] for entry in report["operations"]}
    assert by_name["/refers"] == "skipped"
    assert by_name["GET /berths"] == "degraded"
    assert by_name["GET /ships"] == "ok"


@pytest.mark.covers("GW-CNV-2", "GW-POL-1")
def test_tools_say_what_they_do_without_noise(harbour: Api) -> None:
    tools = {entry.name: entry.tool for entry in build_tools(TargetSettings(name="h"), harbour).entries}

    assert tools["h__delete_ships_ship_id"].description == "(deprecated) Delete a ship\nDELETE /ships/{ship_id}"
    assert tools["h__ships_list"].annotations.read_only is True
    assert tools["h__delete_ships_ship_id"].annotations.destructive is True
    assert tools["h__ships_create"].annotations.destructive is False


@pytest.mark.covers("GW-NAM-4", "GW-NAM-5")
def test_twins_and_long_names_get_a_suffix_of_their_own(harbour: Api) -> None:
    names = [entry.name for entry in build_tools(TargetSettings(name="h"), harbour).entries]

    twins = [name for name in names if name.startswith("h__same_name_")]
    assert len(twins) == 2
    assert "h__same_name" not in names
    long = next(name for name in names if name.startswith("h__get_a_very_long"))
    assert len(long) == 64


@pytest.mark.covers("GW-NAM-7", "GW-CFG-5")
def test_operations_are_chosen_renamed_and_hidden_by_configuration(harbour: Api) -> None:
    settings = read(
        TargetSettings,
        {
            "name": "h",
            "include": ["/ships*"],
            "exclude": ["PATCH", "*photo*", "crew_*"],
            "overrides": {
                "ships/list": {"name": "all_ships", "description": "Every ship"},
                "ships/get": {"hidden": True},
            },
            "set_auth": False,
        },
    )

    tools = build_tools(settings, harbour)

    assert [entry.name for entry in tools.entries] == [
        "all_ships",
        "h__ships_create",
        "h__ships_replace",
        "h__delete_ships_ship_id",
    ]
    assert tools.entries[0].tool.description == "Every ship"
    assert "h__ships_get" in tools.operations


@pytest.mark.covers("GW-LOD-10")
@pytest.mark.parametrize(
    ("settings", "photo", "list_"),
    [
        ({}, "https://uploads.harbour.example", "https://north.harbour.example/v1"),
        (
            {"server_variables": {"region": "south"}},
            "https://uploads.harbour.example",
            "https://south.harbour.example/v1",
        ),
        ({"base_url": "http://127.0.0.1:9/mock"}, "http://127.0.0.1:9/mock", "http://127.0.0.1:9/mock"),
        (
            {"base_url": "http://127.0.0.1:9/mock", "servers": "honour"},
            "https://uploads.harbour.example",
            "http://127.0.0.1:9/mock",
        ),
    ],
)
async def test_each_operation_goes_to_its_own_server(
    settings: JsonObject, photo: str, list_: str, make_target: MakeTarget
) -> None:
    async with make_target(spec=str(HARBOUR), **settings) as target:
        await target.refresh()
        upload = {"ship_id": "1", "body": {"photo": "x"}}
        uploaded = await target.source.preview("api__ships_upload-photo", upload, Call())
        listed = await target.source.preview("api__ships_list", {}, Call())

    assert (uploaded.shown or {})["url"] == f"{photo}/ships/1/photo"
    assert (listed.shown or {})["url"] == f"{list_}/ships"


async def test_a_document_that_is_as_it_was_is_not_understood_again(
    make_target: MakeTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    understood: list[Document] = []

    def counted(document: Document, *rest: Json, outputs: bool) -> Api:
        understood.append(document)
        return read_api(document, *rest, outputs=outputs)

    monkeypatch.setattr("ui_mcp.gateway.openapi.live.read_api", counted)
    first = {"openapi": "3.0.0", "info": {}, "paths": {"/a": {"get": {"operationId": "a", "responses": {}}}}}
    async with make_target(first) as target:
        began = await target.refresh()
        target.source.error = "it was away for a while"
        again = await target.refresh()
        error = target.source.error
        Path(target.settings.spec).write_text(dumps({**first, "paths": {}}))
        emptied = await target.refresh()

    assert (began, again, emptied) == (True, False, True)
    assert (len(understood), error) == (2, "")


@pytest.mark.covers("GW-LOD-6")
async def test_references_may_not_leave_the_folder(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret: true")
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (inner / "root.json").write_text(
        '{"openapi": "3.0.0", "info": {}, "paths": {"/x": {"get": {"parameters": [{"$ref": "../../secret.txt"}]}}}}'
    )

    document = await loaded(inner / "root.json")

    assert [note.code for note in document.notes.all()] == ["unreadable_file"]
    assert len(document.files) == 1


@pytest.mark.covers("GW-CNV-9")
def test_wrong_arguments_are_refused_with_a_hint_how_to_correct_them(harbour: Api) -> None:
    check = ArgumentCheck(operation(harbour, "ships/list"))

    with pytest.raises(InvalidArgumentsError) as caught:
        check.check({"pagee": 1, "flag": "onn", "page": 0}, {})

    text = caught.value.message
    assert "pagee: no such argument; did you mean 'page'?" in text
    assert "did you mean 'on'?" in text
    assert "page: 0 is less than the minimum of 1" in text


@pytest.mark.covers("GW-CNV-4", "GW-CNV-9")
def test_stray_body_fields_and_numeric_text_are_repaired(harbour: Api) -> None:
    listed = ArgumentCheck(operation(harbour, "ships/list")).check({"page": "2"}, {})
    created = ArgumentCheck(operation(harbour, "ships/replace")).check({"ship_id": 7, "name": "A", "owner": "B"}, {})

    assert listed.arguments == {"page": 2}
    assert created.arguments == {"ship_id": "7", "body": {"name": "A", "owner": "B"}}
    assert created.remarks == ("Moved into body: name, owner",)


@pytest.mark.covers("GW-CNV-10")
def test_call_options_are_not_arguments(harbour: Api) -> None:
    checked = ArgumentCheck(operation(harbour, "ships/list")).check({"_fields": ["id"]}, {"ui-mcp/dry_run": True})

    assert (checked.arguments, checked.options) == ({}, {"_fields": ["id"], "_dry_run": True})
