from collections.abc import Callable
from pathlib import Path

import pytest

from ui_mcp.app.ui_server import open_host
from ui_mcp.introspection.backend import BrowserRequest, MarkedView
from ui_mcp.introspection.backends.open_page import PageBackend
from ui_mcp.introspection.target import Target
from ui_mcp.introspection.tools.browser import browser
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.toolkit.functions import FunctionToolset
from ui_mcp.toolkit.tool import Call, Text, ToolResult
from ui_mcp.ui.instance import ListenPorts


class Recording(PageBackend):
    """A browser that only notes what it was asked."""

    def __init__(self) -> None:
        super().__init__(lambda: None)
        self.person = None
        self.on_pointed: Callable[[str], object] = lambda _: None
        self.asked: list[str] = []

    async def picture(self, view: MarkedView) -> bytes:
        raise NotImplementedError

    def loss(self) -> str | None:
        return None

    async def browse(self, request: BrowserRequest) -> str:
        self.asked.append(request.op)
        return "done"


async def call(
    announcements: Announcements,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    settings: JsonObject,
    arguments: dict[str, Json],
    name: str = "browser",
) -> tuple[ToolResult, list[str]]:
    backend = Recording()
    async with open_host(settings, ListenPorts(), announcements) as host:
        await host.begin(str(folder))

        async def target(given: str | None = None) -> Target:
            return Target(name, backend)

        monkeypatch.setattr(host.targets, "target", target)
        return await FunctionToolset(host.targets, [browser]).call("ui_browser", arguments, Call()), backend.asked


@pytest.mark.covers("IN-136")
@pytest.mark.parametrize(
    ("arguments", "settings", "reason"),
    [
        ({"op": "cookies"}, {}, "NO_COOKIES"),
        ({"op": "storage"}, {}, "NO_COOKIES"),
        ({"op": "evaluate", "text": "1"}, {}, "NO_EVALUATE"),
        ({"op": "evaluate", "text": "1"}, {"introspection.allow_evaluate": True}, None),
        ({"op": "cookies"}, {"introspection.allow_cookies": True}, None),
        ({"op": "reload"}, {"introspection.allow_actions": False}, "READ_ONLY"),
        ({"op": "webmcp", "id": "add"}, {"introspection.allow_actions": False}, "READ_ONLY"),
        ({"op": "webmcp"}, {"introspection.allow_actions": False}, None),
        ({"op": "pdf"}, {"introspection.allow_screenshots": False}, "NO_SCREENSHOTS"),
        ({"op": "network", "id": "1"}, {"introspection.redact": ["#iban"]}, "REDACTED"),
        ({"op": "network"}, {"introspection.redact": ["#iban"]}, None),
    ],
)
async def test_what_a_person_has_not_switched_on_is_refused_by_name(
    tmp_path: Path,
    announcements: Announcements,
    monkeypatch: pytest.MonkeyPatch,
    arguments: dict[str, Json],
    settings: JsonObject,
    reason: str | None,
) -> None:
    result, asked = await call(announcements, tmp_path / "ui", monkeypatch, settings, arguments)

    details = result.structured["error"]["details"] if result.structured else {}
    if arguments["op"] != "reload":  # whose outline needs a page
        assert details.get("reason") == reason, result
    assert asked == ([] if reason else [arguments["op"]])


@pytest.mark.covers("IN-136")
@pytest.mark.parametrize(
    ("target", "url", "settings", "opened"),
    [
        ("browser", "https://example.org/", {}, False),
        ("browser", "about:blank", {}, True),
        ("url", "https://example.org/", {}, True),
        ("url", "file:///etc/hostname", {}, False),
        ("url", "chrome://settings", {}, False),
        ("url", "file:///etc/hostname", {"introspection.allow_attach": True}, True),
    ],
)
async def test_an_agent_opens_no_page_that_a_person_would_have_to_attach(
    tmp_path: Path,
    announcements: Announcements,
    monkeypatch: pytest.MonkeyPatch,
    target: str,
    url: str,
    settings: JsonObject,
    *,
    opened: bool,
) -> None:
    given: dict[str, Json] = {"op": "navigate", "url": url}

    result, asked = await call(announcements, tmp_path / "ui", monkeypatch, settings, given, target)

    assert asked == (["navigate"] if opened else [])
    assert opened or "ATTACH_NOT_ALLOWED" in str(result.structured)


async def test_help_names_every_operation(
    tmp_path: Path, announcements: Announcements, monkeypatch: pytest.MonkeyPatch
) -> None:
    result, _ = await call(announcements, tmp_path / "ui", monkeypatch, {}, {"op": "help"})

    block = result.content[0]
    assert isinstance(block, Text)
    for name in browser.tool.input_schema["properties"]["op"]["enum"]:
        assert name == "help" or name in block.text
