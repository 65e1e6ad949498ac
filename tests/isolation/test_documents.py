"""Broken documents beside a good one: at the start, when read again, and uploaded, the good one answers throughout."""

from pathlib import Path

import pytest

from gateway.conftest import MakeTarget, Recorder, document
from gateway.gateways import at_its_source, gateway
from ui_mcp.errors import ConfigError, UiMcpError
from ui_mcp.gateway.config.notes import Notes
from ui_mcp.gateway.config.parse import parse
from ui_mcp.gateway.service import GatewayService
from ui_mcp.gateway.web.target_settings import TargetSettingsService
from ui_mcp.jsontypes import dumps
from ui_mcp.toolkit.tool import Call

HEAD = b'openapi: 3.0.0\ninfo: {title: b, version: "1"}\n'
ONE = b'paths: {/a: {get: {operationId: a, responses: {"200": {description: k}}}}}\n'
BOUND = b"{name: n, in: query, schema: {type: integer, maximum: 18446744073709552000, minimum: -9223372036854776000}}"
LONG = b"{name: n, in: query, schema: {maxLength: " + b"9" * 5000 + b"}}"
READABLE = {
    "integer beyond 64 bits": HEAD + b"paths: {/a: {get: {operationId: a, parameters: [%s], responses: {}}}}\n" % BOUND,
    "number of 5,000 digits": HEAD + ONE + b"x: " + b"9" * 5000 + b"\n",
    "bound of 5,000 digits": HEAD + ONE.replace(b"get: {", b"get: {parameters: [%s], " % LONG),
    "control character": HEAD.replace(b"title: b", b'title: "t\xc2\x81"') + ONE,
    "schemes that are no list": b'swagger: "2.0"\nhost: x\nschemes: 5\ninfo: {title: b, version: "1"}\n' + ONE,
    "server that is no address": HEAD + b'servers: [{url: "http://[::"}]\n' + ONE,
    "info that is a list": b"openapi: 3.0.0\ninfo: [1]\n" + ONE,
}
REFUSED = {
    "nested JSON": dumps(document({})).encode()[:-1] + b',"x":' + b"[" * 1000 + b"]" * 1000 + b"}",
    "nesting of 200 kB": b"[" * 200_000,
    "nested YAML": HEAD + ONE + b"x: " + b"- " * 5000,
    "nested aliases": HEAD + b"x0: &x0 [1]\n" + b"".join(b"x%d: &x%d [*x%d]\n" % (i, i, i - 1) for i in range(1, 400)),
    "no document": b"\x00\xff\xfe",
}
BROKEN = READABLE | REFUSED


async def answers(found: GatewayService) -> bool:
    return not (await at_its_source(found, "shop__listThings", {}, Call())).is_error


@pytest.mark.covers("GW-ISO-1")
async def test_broken_documents_beside_a_good_one_are_their_own_trouble_at_the_start(
    tmp_path: Path, recorder: Recorder
) -> None:
    for number, text in enumerate(BROKEN.values()):
        (tmp_path / f"d{number}.yaml").write_bytes(text)
    targets = [{"name": f"d{number}", "spec": str(tmp_path / f"d{number}.yaml")} for number in range(len(BROKEN))]

    async with gateway(tmp_path, recorder, targets=targets) as found:
        assert await answers(found)
        states = {health.name: health.state for health in found.health()}

    named = dict(zip(BROKEN, (states[f"d{number}"] for number in range(len(BROKEN))), strict=True))
    assert named == {**dict.fromkeys(READABLE, "active"), **dict.fromkeys(REFUSED, "failed")}


@pytest.mark.covers("GW-ISO-1")
async def test_a_document_that_breaks_leaves_its_old_tools_and_every_other_source(
    tmp_path: Path, recorder: Recorder
) -> None:
    spec = tmp_path / "changing.yaml"
    spec.write_bytes(HEAD + ONE)
    async with gateway(tmp_path, recorder, targets=[{"name": "changing", "spec": str(spec)}]) as found:
        for name, text in BROKEN.items():
            spec.write_bytes(text)
            await found.sources.targets["changing"].refresh()
            health = next(one for one in found.health() if one.name == "changing")

            assert await answers(found), name
            assert found.catalog.has("changing__a"), name
            assert (health.error == "") == (name in READABLE), name


@pytest.mark.covers("GW-ISO-1")
async def test_a_broken_upload_is_refused_or_noted_and_the_others_answer(tmp_path: Path, recorder: Recorder) -> None:
    async def no_demo() -> str:
        return ""

    async with gateway(tmp_path, recorder) as found:
        targets = TargetSettingsService(found, None, no_demo)
        for name, text in BROKEN.items():
            try:
                added = await targets.upload(source := f"up{len(found.sources.targets)}", text)
                assert found.catalog.has(f"{source}__a"), (name, added)
            except UiMcpError:
                assert name in REFUSED
            assert await answers(found), name


@pytest.mark.covers("GW-ISO-1")
async def test_a_document_that_cannot_be_cached_has_its_tools_all_the_same(
    make_target: MakeTarget, tmp_path: Path
) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    async with make_target(document({"/a": {"get": {"operationId": "a", "responses": {}}}})) as target:
        assert await target.refresh()
        assert target.source.error == ""


@pytest.mark.covers("GW-ISO-1")
async def test_an_api_with_settings_that_make_no_sense_does_not_stop_the_start(
    tmp_path: Path, recorder: Recorder
) -> None:
    wrong = {"name": "wrong", "base_url": "http://127.0.0.1:9", "auth": {"type": "sorcery", "token": "t"}}
    async with gateway(tmp_path, recorder, targets=[wrong]) as found:
        assert await answers(found)
        assert "sorcery" in next(one.error for one in found.health() if one.name == "wrong")


@pytest.mark.parametrize("text", [b"[" * 200_000, b'{"a":' * 40_000, b"- " * 100_000, b"[" * 500 + b"]" * 500])
def test_what_is_only_nesting_is_refused_by_its_depth(text: bytes) -> None:
    with pytest.raises(ConfigError, match="nested more than 200 levels"):
        parse(text)


def test_numbers_and_characters_that_json_cannot_hold_are_replaced_with_a_note() -> None:
    notes = Notes()
    read = parse(
        b"a: 18446744073709552000\nb: 18446744073709551615\nc: 0x1ffffffffffffffff\nd: 1e999\ne: \x07\n", notes
    )

    assert read == {"a": 18446744073709552000.0, "b": 2**64 - 1, "c": float(2**65 - 1), "d": "1e999", "e": "\ufffd"}
    assert [note.code for note in notes.all()] == ["control_character", "large_number"]
    assert parse(dumps(read).encode()) == read
