"""Mounted servers whose lists and results are malformed: what can be used is, and everybody else answers."""

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.conftest import Recorded, Recorder, Reply, json_reply
from gateway.gateways import at_its_source, gateway
from isolation.malformed_server import GREETING
from ui_mcp.errors import UpstreamError
from ui_mcp.gateway.config.configuration import GatewayOptions
from ui_mcp.gateway.mcp import MountedPrompts, MountedResources, gateway_definition
from ui_mcp.jsontypes import dumps, loads
from ui_mcp.mcp_client import parsing
from ui_mcp.mcp_client.client import Options, connect
from ui_mcp.mcp_client.transport import HttpUrl
from ui_mcp.mcp_server.server import McpServer
from ui_mcp.mcp_server.tools import listed_tool
from ui_mcp.toolkit.tool import Call, Relayed

GOOD = {"name": "good", "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}}}}
DEEP: Any = []
for _ in range(300):
    DEEP = [DEEP]
LISTS = {
    "no schema": [{"name": "a"}, GOOD],
    "no name": [{"inputSchema": {"type": "object"}}, GOOD],
    "a text": ["a tool", GOOD],
    "null schema": [{"name": "a", "inputSchema": None}, GOOD],
    "a number as name": [{"name": 5, "inputSchema": {"type": "object"}}, GOOD],
    "wrong fields": [{**GOOD, "name": "a", "title": 5, "description": [], "icons": 3, "annotations": "x"}, GOOD],
    "wrong properties": [{"name": "a", "inputSchema": {"type": "array", "properties": [1], "required": 5}}, GOOD],
    "nesting": [{"name": "a", "inputSchema": {"type": "object", "default": DEEP}}, GOOD],
    "nothing": [None, GOOD],
}
KEPT = {"no schema", "null schema", "wrong fields", "wrong properties"}


def server(name: str, **answers: Any) -> dict[str, Any]:
    told = {"tools/list": {"tools": [GOOD]}, **{method.replace("_", "/", 1): one for method, one in answers.items()}}
    return {"name": name, "command": sys.executable, "args": [str(Path(__file__).with_name("malformed_server.py")),
            json.dumps(told)]}  # fmt: skip


NOISY = """
import json, sys
def say(**message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
capabilities = {"tools": {}, "logging": {}}
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "initialize":
        greeting = {"protocolVersion": "2025-06-18", "capabilities": capabilities}
        say(id=message["id"], result={**greeting, "serverInfo": {"name": "n", "version": "1"}})
    elif method == "tools/list":
        say(id=message["id"], result={"tools": [{"name": "work", "inputSchema": {"type": "object"}}]})
    elif method == "logging/setLevel":
        for level in ("debug", message["params"]["level"], "error", "unknown"):
            said = {"level": level, "logger": "db\\u202e", "data": {"free": 0}}
            say(method="notifications/message", params=said)
        say(id=message["id"], result={})
    elif "id" in message:
        say(id=message["id"], result={})
"""


@pytest.mark.covers("GW-UPS-11")
async def test_log_messages_of_a_server_reach_clients_from_their_level_on(tmp_path: Path) -> None:
    noisy = {"name": "noisy", "command": sys.executable, "args": ["-c", NOISY]}
    async with gateway(tmp_path, mcp={"servers": [noisy]}) as found:
        service = McpServer(gateway_definition(found, GatewayOptions()))
        silent, listening = service.subscriptions.connect(), service.subscriptions.connect()
        listening.set_log_level("warning")

        await found.sources.set_log_level("warning")
        with anyio.fail_after(30):
            heard = await listening.get()
        silent.close()

        assert await silent.get() == []

    assert [(one["params"]["level"], one["params"]["logger"]) for one in heard] == [
        ("warning", "noisy/db\\u202e"),
        ("error", "noisy/db\\u202e"),
    ]
    assert service.serves("logging/setLevel", "handshake")


@pytest.mark.covers("GW-ISO-2")
async def test_of_two_tools_with_one_name_the_first_is_listed_and_the_health_says_so(tmp_path: Path) -> None:
    twice = [GOOD, {**GOOD, "description": "second"}, {**GOOD, "name": "other"}]

    async with gateway(tmp_path, mcp={"servers": [server("m", tools_list={"tools": twice})]}) as found:
        listed = {entry.name: entry.tool.description for entry in found.catalog.entries()}
        [health] = found.health()

    assert listed == {"m__good": "", "m__other": ""}
    assert health.tools == 2
    assert (health.details or {})["notes"] == ["tool 'good' is listed 2 times; the first counts"]


@pytest.mark.covers("GW-ISO-2")
async def test_a_malformed_tool_is_left_out_or_repaired_and_named_in_the_health(
    tmp_path: Path, recorder: Recorder
) -> None:
    servers = [server(f"m{number}", tools_list={"tools": tools}) for number, tools in enumerate(LISTS.values())]
    servers.append(server("none", tools_list={"tools": None}))

    async with gateway(tmp_path, recorder, mcp={"servers": servers}) as found:
        assert not (await at_its_source(found, "shop__listThings", {}, Call())).is_error
        listed = {entry.name: listed_tool(entry.tool) for entry in found.catalog.entries()}
        health = {one.name: one for one in found.health()}
        dumps(list(listed.values()))

    for number, name in enumerate(LISTS):
        assert f"m{number}__good" in listed, name
        assert (f"m{number}__a" in listed) == (name in KEPT), name
        assert health[f"m{number}"].state == "active", name
        assert any("tool 1" in note for note in (health[f"m{number}"].details or {})["notes"]), name
    assert (health["none"].details or {})["notes"] == ["tool: a list was expected, not nothing"]
    assert listed["m0__a"]["inputSchema"] == {"type": "object"}


@pytest.mark.covers("GW-ISO-2")
@pytest.mark.parametrize("name", sorted(LISTS.keys() - {"nesting"}))
async def test_a_malformed_tool_is_left_out_or_repaired_behind_an_address_too(name: str, recorder: Recorder) -> None:
    answers = {"initialize": GREETING, "tools/list": {"tools": LISTS[name]}, "prompts/list": {"prompts": None}}

    def answer(request: Recorded) -> Reply:
        message = loads(request.body or b"{}")
        if message.get("method") not in answers:
            return Reply(405 if "id" not in message else 404, b"")
        return json_reply({"jsonrpc": "2.0", "id": message["id"], "result": answers[message["method"]]})

    recorder.default = answer
    async with connect(HttpUrl(f"{recorder.url}/mcp"), Options(mode="legacy")) as found:
        tools = {tool.name: tool for tool in await found.tools(Call())}
        prompts = await found.prompts(Call())

    assert ("good" in tools, "a" in tools) == (True, name in KEPT)
    assert prompts == []
    assert any("tool 1" in note for note in found.notes)


@pytest.mark.covers("GW-ISO-2")
async def test_malformed_resources_templates_and_prompts_spoil_nothing_beside_them(tmp_path: Path) -> None:
    told = server(
        "one",
        resources_list={"resources": [5, {"uri": "x://no-name"}, {"uri": "x://a", "name": "a", "size": "big"}]},
        **{"resources_templates/list": {"resourceTemplates": [None, {"name": "n"}]}},
        prompts_list={"prompts": ["p", {"name": "p", "arguments": 5}, {}]},
    )
    async with gateway(tmp_path, mcp={"servers": [told]}) as found:
        resources = await MountedResources(found).resources(Call())
        templates = await MountedResources(found).templates(Call())
        prompts = await MountedPrompts(found).prompts(Call())
        notes = (next(one for one in found.health() if one.name == "one").details or {})["notes"]

    assert [(one.uri, one.size) for one in resources] == [("x://a", None)]
    assert templates == []
    assert prompts == [{"name": "one__p"}]
    assert len(notes) == 8


@pytest.mark.covers("GW-ISO-2")
async def test_a_malformed_result_is_repaired_or_an_error_that_names_the_server(tmp_path: Path) -> None:
    servers = [
        server("listed", tools_call={"content": [], "structuredContent": [1, 2]}),
        server("text", tools_call={"content": "just text"}),
        server("deep", tools_call={"content": [], "structuredContent": {"a": DEEP}}),
        server("asking", tools_call={"resultType": "input_required", "inputRequests": [1]}),
    ]
    async with gateway(tmp_path, mcp={"servers": servers}) as found:
        listed = await at_its_source(found, "listed__good", {}, Call())
        text = await at_its_source(found, "text__good", {}, Call())
        with pytest.raises(UpstreamError, match=r"^deep: it cannot be passed on"):
            await at_its_source(found, "deep__good", {}, Call())
        with pytest.raises(UpstreamError, match=r"^asking: good asked for input"):
            await at_its_source(found, "asking__good", {}, Call())

    assert listed.structured == {"result": [1, 2]}
    assert isinstance(text.content[0], Relayed)
    assert text.content[0].block == {"type": "text", "text": "just text"}
    assert "no list but a text" in str(text.content[1])


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    ["name", "inputSchema", "outputSchema", "annotations", "_meta", "icons", "uri", "uriTemplate", "content",
     "contents", "structuredContent", "isError", "text", "blob", "type", "messages", "completion", "values", "ttlMs",
     "properties"]
)  # fmt: skip


@pytest.mark.covers("GW-ISO-2")
@given(st.dictionaries(FIELDS, ANY | st.dictionaries(FIELDS, ANY), max_size=6))
def test_nothing_a_server_sends_raises_anything_but_our_error(body: dict[str, Any]) -> None:
    lists = parsing.Lists()
    for make in (parsing.tool, parsing.resource, parsing.template, parsing.prompt):
        dumps([str(one) for one in lists.read("entry", [[body], body], make)])
    for read in (
        parsing.tool_result,
        lambda body: parsing.contents(body, "x://"),
        parsing.prompt_result,
        parsing.completion,
    ):
        try:
            read(body)
        except parsing.MalformedError:
            continue
