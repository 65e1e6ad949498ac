"""The tools the conformance suite calls that only answer."""

from base64 import b64decode
from dataclasses import dataclass
from typing import ClassVar

import anyio

from ui_mcp.errors import UiMcpError
from ui_mcp.fields import Rules
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.toolkit.functions import FunctionTool, NoArgs, tool
from ui_mcp.toolkit.tool import Call, Media, Relayed, Text, Tool, ToolResult, text_result

PIXEL = b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==")
SILENCE = b64decode("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=")


@tool("test_simple_text", NoArgs, title="Simple text")
async def simple_text(bus: Announcements, args: NoArgs, call: Call) -> ToolResult:
    """Answer with one text block."""
    return text_result("This is a simple text response for testing.")


@tool("test_image_content", NoArgs, title="Image")
async def image(bus: Announcements, args: NoArgs, call: Call) -> ToolResult:
    """Answer with one image."""
    return ToolResult((Media("image", PIXEL, "image/png"),))


@tool("test_audio_content", NoArgs, title="Audio")
async def audio(bus: Announcements, args: NoArgs, call: Call) -> ToolResult:
    """Answer with one sound."""
    return ToolResult((Media("audio", SILENCE, "audio/wav"),))


@tool("test_embedded_resource", NoArgs, title="Embedded resource")
async def embedded(bus: Announcements, args: NoArgs, call: Call) -> ToolResult:
    """Answer with an embedded resource."""
    return ToolResult((_embedded("test://embedded-resource", "text/plain", "This is an embedded resource content."),))


@tool("test_multiple_content_types", NoArgs, title="Mixed content")
async def mixed(bus: Announcements, args: NoArgs, call: Call) -> ToolResult:
    """Answer with text, an image and a resource."""
    resource = _embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')
    return ToolResult((Text("Multiple content types test:"), Media("image", PIXEL, "image/png"), resource))


@tool("test_tool_with_progress", NoArgs, title="Progress")
async def progress(bus: Announcements, args: NoArgs, call: Call) -> ToolResult:
    """Report progress, then answer with the token."""
    for done in (0, 50, 100):
        await call.progress(done, 100, f"Completed step {done} of 100")
        await anyio.sleep(0.02)
    return text_result(str(call.meta.get("progressToken", "none")))


@tool("test_error_handling", NoArgs, title="Error")
async def failing(bus: Announcements, args: NoArgs, call: Call) -> ToolResult:
    """Fail on purpose."""
    raise UiMcpError("This tool intentionally returns an error for testing")


@tool("test_streaming_elicitation", NoArgs, title="No questions on the stream")
async def quiet(bus: Announcements, args: NoArgs, call: Call) -> ToolResult:
    """Answer without asking anything."""
    return text_result("Nothing was asked.")


@tool("test_trigger_tool_change", NoArgs, title="Announce other tools")
async def tool_change(bus: Announcements, args: NoArgs, call: Call) -> ToolResult:
    """Announce that the tools changed."""
    bus.list_changed("tools")
    return text_result("announced")


@tool("test_trigger_prompt_change", NoArgs, title="Announce other prompts")
async def prompt_change(bus: Announcements, args: NoArgs, call: Call) -> ToolResult:
    """Announce that the prompts changed."""
    bus.list_changed("prompts")
    return text_result("announced")


@dataclass(frozen=True, slots=True)
class FreeArgs:
    """Arguments whose schema is written by hand."""

    RULES: ClassVar = Rules(before=lambda given: {"given": given})

    given: JsonObject


async def _echo(bus: Announcements, args: FreeArgs, call: Call) -> ToolResult:
    return text_result(f"called with {args.given}")


SCHEMA_2020_12 = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
MIRRORED = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "level": {"type": "integer"},
    },
}

TOOLS: list[FunctionTool[Announcements]] = [
    simple_text,
    image,
    audio,
    embedded,
    mixed,
    progress,
    failing,
    quiet,
    tool_change,
    prompt_change,
    FunctionTool(Tool("json_schema_2020_12_tool", "Schema", "Has a rich schema.", SCHEMA_2020_12), FreeArgs, _echo),
    FunctionTool(Tool("test_x_mcp_header", "Mirrored", "Mirrors `region` as a header.", MIRRORED), FreeArgs, _echo),
]


def _embedded(uri: str, mime_type: str, text: str) -> Relayed:
    return Relayed({"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": text}})
