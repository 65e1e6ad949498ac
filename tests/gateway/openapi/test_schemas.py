"""Schemas are never narrower than the document, and an error names each problem with its path."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from gateway.conftest import document
from ui_mcp.errors import InvalidArgumentsError
from ui_mcp.gateway.config.notes import Notes
from ui_mcp.gateway.openapi.arguments import ArgumentCheck
from ui_mcp.gateway.openapi.document import Document, Place
from ui_mcp.gateway.openapi.model import Operation
from ui_mcp.gateway.openapi.operations import read_api
from ui_mcp.gateway.openapi.schemas import Schemas
from ui_mcp.jsontypes import Json, JsonObject

LOCATION = "api.json"
DESCRIBED = {"description": "d"}
STATE = {"type": "string", "enum": ["on", "off"]}


def operation(content: JsonObject, **schemas: Json) -> Operation:
    post = {"operationId": "go", "requestBody": {"content": content}, "responses": {}}
    tree = {**document({"/x": {"post": post}}), "components": {"schemas": schemas}}
    return read_api(Document(LOCATION, {LOCATION: tree}, Notes())).operations[0]


def json_body(schema: JsonObject, **schemas: Json) -> ArgumentCheck:
    return ArgumentCheck(operation({"application/json": {"schema": schema}}, **schemas))


def problems(check: ArgumentCheck, **arguments: Json) -> list[str]:
    with pytest.raises(InvalidArgumentsError) as caught:
        check.check(arguments, {})
    found = caught.value.details["problems"]
    assert isinstance(found, list)
    return found


@pytest.mark.covers("GW-CNV-12")
@pytest.mark.parametrize(
    ("parts", "value"),
    [
        ([{"type": "array", "items": {"type": "string"}}, DESCRIBED], ["x"]),
        ([{"$ref": "#/components/schemas/Tags"}, {"example": ["x"]}, DESCRIBED], ["x"]),
        ([{"$ref": "#/components/schemas/Tags"}, {"nullable": True}], None),
        ([STATE, {"nullable": True}], "on"),
        ([{}, {"example": "x"}, DESCRIBED], "x"),
        ([{"type": "integer"}, {"minimum": 1}, DESCRIBED], 5),
        ([{"required": ["a"]}, DESCRIBED], "text, which `required` is not about"),
        ([{"properties": {"a": {"type": "string"}}}, {"type": "object"}], {"a": "x"}),
    ],
)
def test_what_fits_every_part_of_an_all_of_is_accepted(parts: list[Json], value: Json) -> None:
    tags = {"type": "array", "items": {"type": "string"}, "nullable": True}
    check = json_body({"type": "object", "properties": {"it": {"allOf": parts}}}, Tags=tags)

    assert check.check({"body": {"it": value}}, {}).arguments == {"body": {"it": value}}


NAMES = st.sampled_from(["a", "b"])
LEAVES = st.sampled_from([{"type": "string"}, {"type": "integer"}, {"enum": ["x", 1]}, {}])
VALUES = st.recursive(
    st.sampled_from([None, True, 0, 1, "", "x"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=5,
)
PARTS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["object", "array", "string", "integer"]),
        "description": st.just("d"),
        "properties": st.dictionaries(NAMES, LEAVES, max_size=2),
        "required": st.lists(NAMES, min_size=1, max_size=2, unique=True),
        "additionalProperties": st.just(False) | LEAVES,
        "items": LEAVES,
        "minItems": st.just(1),
        "contains": LEAVES,
        "minContains": st.just(2),
        "if": LEAVES,
        "then": LEAVES,
    },
)


@pytest.mark.covers("GW-CNV-12")
@given(around=PARTS, parts=st.lists(PARTS, min_size=1, max_size=3), value=VALUES)
def test_a_merged_schema_accepts_whatever_its_parts_accept(around: JsonObject, parts: list[Json], value: Json) -> None:
    whole = {**around, "allOf": parts}
    source = Document(LOCATION, {LOCATION: {"openapi": "3.1.0", "paths": {}}}, Notes())

    merged = Schemas(source, "request", Notes()).convert(Place(LOCATION, "/x", whole))

    if Draft202012Validator(whole).is_valid(value):
        assert Draft202012Validator(merged).is_valid(value)


@pytest.mark.covers("GW-CNV-12")
def test_a_property_that_only_answers_have_is_not_required_of_requests() -> None:
    own = {"type": "object", "properties": {"id": {"type": "string", "readOnly": True}, "a": {"type": "string"}}}
    check = json_body({"allOf": [{"$ref": "#/components/schemas/Own"}], "required": ["id", "a"]}, Own=own)

    assert check.check({"body": {"a": "x"}}, {}).arguments == {"body": {"a": "x"}}


@pytest.mark.covers("GW-CNV-12")
def test_choices_of_the_wrong_type_are_read_as_the_declared_one() -> None:
    check = json_body({"type": "object", "properties": {"n": {"type": "string", "enum": [1, True]}}})

    assert check.check({"body": {"n": "1"}}, {}).arguments == {"body": {"n": "1"}}
    assert check.check({"body": {"n": "true"}}, {}).arguments == {"body": {"n": "true"}}


@pytest.mark.covers("GW-CNV-12")
def test_a_value_that_fits_two_branches_of_one_of_is_accepted() -> None:
    branches = [{"$ref": "#/components/schemas/A"}, {"$ref": "#/components/schemas/B"}]
    tag = {"propertyName": "type", "mapping": {"on": "gone.yml", "off": "gone.yml"}}

    def tagged(*kinds: Json) -> JsonObject:
        return {"type": "object", "required": ["type"], "properties": {"type": {"enum": list(kinds)}}}

    check = json_body({"oneOf": branches, "discriminator": tag}, A=tagged("on", "off"), B=tagged("off", "snap"))

    assert check.check({"body": {"type": "off"}}, {}).arguments == {"body": {"type": "off"}}


MESSAGE = {"type": "object", "properties": {"content": {"type": "string", "maxLength": 9}, "n": {"type": "integer"}}}
UPLOAD = {"type": "object", "properties": {"content": {"type": "string"}, "f": {"type": "string", "format": "binary"}}}


@pytest.mark.covers("GW-CNV-9")
def test_a_body_of_several_media_types_is_judged_by_the_one_that_would_be_sent() -> None:
    check = ArgumentCheck(
        operation({"application/json": {"schema": MESSAGE}, "multipart/form-data": {"schema": UPLOAD}})
    )

    assert problems(check, body={"content": ["x"], "n": "many"}) == [
        "body.content: ['x'] is not of type 'string'",
        "body.n: 'many' is not of type 'integer'",
    ]
    assert problems(check, body={"content": ["x"], "n": "many"}, content_type="multipart/form-data") == [
        "body.content: ['x'] is not of type 'string'"
    ]
    assert check.check({"body": {"content": 5}}, {}).arguments == {"body": {"content": "5"}}


@pytest.mark.covers("GW-CNV-9")
def test_the_problems_are_those_of_the_branch_that_came_nearest() -> None:
    def shape(kind: str, **properties: Json) -> JsonObject:
        return {"type": "object", "required": ["kind"], "properties": {"kind": {"const": kind}, **properties}}

    card = shape("card", number={"type": "string"}, months={"type": "array", "items": {"type": "integer"}})
    check = json_body({"oneOf": [{"type": "string"}, shape("cash"), card, shape("bank", iban={"type": "string"})]})

    assert problems(check, body={"kind": "card", "number": [], "months": [1, "May"]}) == [
        "body.number: [] is not of type 'string'",
        "body.months.1: 'May' is not of type 'integer'",
    ]
