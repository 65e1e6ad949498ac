"""Five revisions, two eras, one connection."""

import pytest

from mcp_server.definitions import sample_definition
from mcp_server.wire import APPS, ENVELOPE, HELLO, wired
from ui_mcp.jsontypes import JsonObject

SERVER_INFO = {"name": "test", "title": "Test server", "version": "1.2.3"}
IDENTITY = {"io.modelcontextprotocol/serverInfo": SERVER_INFO}


@pytest.mark.covers("MCP-ERA-1", "MCP-ERA-2", "MCP-STDIO-5", "MCP-CONF-5")
async def test_discover_then_initialize_then_a_modern_call_work_on_one_pipe() -> None:
    async with wired(sample_definition()) as wire:
        discovered = await wire.ask("server/discover", modern=True)
        hello = await wire.shake_hands()
        modern = await wire.call("facts", modern=True)
        handshake = await wire.call("facts")

    assert discovered["result"]["supportedVersions"] == ["2026-07-28"]
    assert hello["result"]["protocolVersion"] == "2025-11-25"
    assert modern["result"]["structuredContent"]["era"] == "modern"
    assert handshake["result"]["structuredContent"]["era"] == "handshake"


@pytest.mark.covers("MCP-ERA-3")
@pytest.mark.parametrize(
    ("offered", "agreed"),
    [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        (None, "2024-11-05"),
    ],
)
async def test_known_revisions_are_confirmed_and_others_answered_with_ours(offered: str | None, agreed: str) -> None:
    hello = {key: value for key, value in {**HELLO, "protocolVersion": offered}.items() if value is not None}
    async with wired(sample_definition()) as wire:
        answer = await wire.ask("initialize", hello)

    assert answer["result"]["protocolVersion"] == agreed
    assert {"tools", "resources"} <= answer["result"]["capabilities"].keys()
    assert answer["result"]["serverInfo"].keys() >= {"name", "version"}


@pytest.mark.covers("MCP-ERA-3")
async def test_a_second_initialize_negotiates_anew() -> None:
    async with wired(sample_definition()) as wire:
        first = await wire.shake_hands("2025-11-25")
        second = await wire.shake_hands("2024-11-05")
        answer = await wire.call("echo", text="still here")

    assert [first["result"]["protocolVersion"], second["result"]["protocolVersion"]] == ["2025-11-25", "2024-11-05"]
    assert answer["result"]["content"] == [{"type": "text", "text": "still here"}]


@pytest.mark.covers("MCP-ERA-4")
async def test_an_incomplete_envelope_is_refused_by_name_and_a_foreign_version_with_ours() -> None:
    version, capabilities = ENVELOPE
    async with wired(sample_definition()) as wire:
        bare = await wire.ask("server/discover")
        half = await wire.ask("tools/list", {"_meta": {version: "2026-07-28"}})
        future = await wire.ask("tools/list", {"_meta": {version: "2099-01-01", capabilities: {}}})

    assert bare["error"]["code"] == -32602
    assert half["error"]["code"] == -32602
    assert capabilities in half["error"]["message"]
    assert future["error"]["code"] == -32022
    assert future["error"]["data"] == {"supported": ["2026-07-28"], "requested": "2099-01-01"}


@pytest.mark.covers("MCP-ERA-5")
async def test_a_modern_request_learns_nothing_from_an_earlier_handshake() -> None:
    async with wired(sample_definition()) as wire:
        await wire.shake_hands(capabilities=APPS)
        answer = await wire.ask("tools/list", modern=True)
        told = await wire.call("facts", modern=True)

    assert "ui_app_only" not in [tool["name"] for tool in answer["result"]["tools"]]
    assert told["result"]["structuredContent"]["client"] == ""


@pytest.mark.covers("MCP-ERA-6", "R-NO-12")
@pytest.mark.parametrize(
    ("method", "params", "ttl", "scope"),
    [
        ("server/discover", {}, 3_600_000, "public"),
        ("tools/list", {}, 300_000, "private"),
        ("resources/templates/list", {}, 300_000, "public"),
        ("resources/list", {}, 60_000, "private"),
        ("resources/read", {"uri": "ui://reference"}, 60_000, "private"),
        ("resources/read", {"uri": "ui://state"}, 0, "private"),
    ],
)
async def test_modern_results_say_who_answers_and_how_long_they_hold(
    method: str, params: dict[str, str], ttl: int, scope: str
) -> None:
    async with wired(sample_definition()) as wire:
        result = (await wire.ask(method, params, modern=True))["result"]

    assert (result["resultType"], result["ttlMs"], result["cacheScope"]) == ("complete", ttl, scope)
    assert result["_meta"] == IDENTITY


@pytest.mark.covers("MCP-ERA-6")
async def test_handshake_results_carry_nothing_of_the_modern_envelope() -> None:
    async with wired(sample_definition()) as wire:
        await wire.shake_hands()
        answers = [
            await wire.ask("tools/list"),
            await wire.ask("resources/read", {"uri": "ui://reference"}),
            await wire.call("echo", text="x"),
        ]

    for answer in answers:
        assert not {"resultType", "ttlMs", "cacheScope", "_meta"} & answer["result"].keys()


@pytest.mark.covers("MCP-ID-1", "MCP-ID-2", "MCP-ID-3", "MCP-ID-4")
async def test_both_eras_tell_the_same_identity_and_capabilities() -> None:
    capabilities = {"tools": {"listChanged": False}, "resources": {"subscribe": True, "listChanged": True}}
    extensions = {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}
    async with wired(sample_definition()) as wire:
        hello = (await wire.shake_hands())["result"]
        discovered = (await wire.ask("server/discover", modern=True))["result"]

    assert hello["serverInfo"] == SERVER_INFO
    assert hello["capabilities"] == capabilities
    assert discovered["capabilities"] == {**capabilities, "extensions": extensions}
    assert hello["instructions"] == discovered["instructions"] == "Call echo."


@pytest.mark.covers("MCP-ERA-1", "MCP-ERA-7")
@pytest.mark.parametrize(
    ("method", "era"),
    [
        ("prompts/list", "handshake"),
        ("completion/complete", "handshake"),
        ("logging/setLevel", "handshake"),
        ("tasks/list", "handshake"),
        ("ping", "modern"),
        ("resources/subscribe", "modern"),
        ("resources/unsubscribe", "modern"),
        ("prompts/list", "modern"),
        ("nonsense", "modern"),
    ],
)
async def test_methods_we_do_not_serve_are_unknown(method: str, era: str) -> None:
    given: dict[str, JsonObject] = {
        "completion/complete": {"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "a", "value": ""}},
        "logging/setLevel": {"level": "info"},
        "resources/subscribe": {"uri": "ui://state"},
        "resources/unsubscribe": {"uri": "ui://state"},
    }
    async with wired(sample_definition()) as wire:
        if era == "handshake":
            await wire.shake_hands()
        answer = await wire.ask(method, given.get(method, {}), modern=era == "modern")

    assert (answer["error"]["code"], answer["error"]["message"]) == (-32601, "Method not found")


@pytest.mark.covers("MCP-TOOL-2")
@pytest.mark.parametrize("modern", [True, False])
async def test_tools_for_pages_are_listed_to_clients_that_show_pages(modern: bool) -> None:
    meta = {**ENVELOPE, "io.modelcontextprotocol/clientCapabilities": APPS}
    async with wired(sample_definition()) as wire:
        await wire.shake_hands(capabilities=APPS)
        listed = (await wire.ask("tools/list", {"_meta": meta} if modern else {}))["result"]["tools"]

    assert listed[-1]["name"] == "ui_app_only"


@pytest.mark.covers("MCP-SDK-2")
async def test_a_call_gives_the_same_answer_in_both_eras() -> None:
    async with wired(sample_definition()) as wire:
        await wire.shake_hands()
        for name in ("echo", "fail", "picture"):
            arguments: JsonObject = {"text": "x"} if name == "echo" else {}
            handshake = (await wire.call(name, **arguments))["result"]
            modern = (await wire.call(name, modern=True, **arguments))["result"]
            del modern["resultType"], modern["_meta"]
            assert handshake == modern
