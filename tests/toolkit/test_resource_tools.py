"""Resources as tools."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui_mcp.errors import ResourceNotFoundError, UnknownToolError
from ui_mcp.toolkit.resource_tools import Unlisted, resource_tools, window
from ui_mcp.toolkit.resources import Resource, ResourceContent, ResourceTemplate
from ui_mcp.toolkit.tool import Call

pytestmark = pytest.mark.covers("R-SU-1", "R-SU-2")


class Library:
    """Two resources: a text and a picture."""

    async def resources(self, call: Call) -> Sequence[Resource]:
        return [Resource("ui://a", "a", "A text", "text/plain"), Resource("x://b", "b", "", "image/png")]

    async def templates(self, call: Call) -> Sequence[ResourceTemplate]:
        return [ResourceTemplate("ui://{path}", "file", "Any file")]

    async def read(self, uri: str, call: Call) -> Sequence[ResourceContent]:
        if uri == "ui://a":
            return [ResourceContent(uri, "text/plain", "größer")]
        if uri == "x://b":
            return [ResourceContent(uri, "image/png", b"\x01\x02\x03")]
        raise ResourceNotFoundError(uri)


tools = resource_tools(Library())


async def test_resources_are_listed_by_prefix() -> None:
    listed = (await tools.call("resources__list", {"uri_prefix": "ui:"}, Call())).structured
    patterns = (await tools.call("resources__list_resource_templates", {}, Call())).structured

    assert listed == {"resources": [{"uri": "ui://a", "name": "a", "description": "A text", "mimeType": "text/plain"}]}
    assert patterns == {
        "resourceTemplates": [{"uriTemplate": "ui://{path}", "name": "file", "description": "Any file"}]
    }


async def test_a_long_text_is_read_window_by_window_without_splitting_characters() -> None:
    first = (await tools.call("resources__read", {"uri": "ui://a", "max_bytes": 5}, Call())).structured or {}
    second = (
        await tools.call("resources.read", {"uri": "ui://a", "start_offset": first["next_offset"]}, Call())
    ).structured

    assert (first["parts"][0]["text"], first["next_offset"]) == ("grö", 4)
    assert second == {
        "window": {"start_offset": 4, "max_bytes": 25_000},
        "parts": [{"uri": "ui://a", "mimeType": "text/plain", "text": "ßer"}],
        "total_parts": 1,
    }


async def test_bytes_come_as_base64() -> None:
    read = (await tools.call("resources__read", {"uri": "x://b"}, Call())).structured or {}

    assert read["parts"] == [{"uri": "x://b", "mimeType": "image/png", "blob": "AQID"}]


async def test_what_is_not_there_is_named() -> None:
    with pytest.raises(ResourceNotFoundError):
        await tools.call("resources__read", {"uri": "ui://none"}, Call())


async def test_unlisted_tools_can_be_called_and_take_no_other_names() -> None:
    hidden = Unlisted(tools)

    assert await hidden.tools(Call()) == []
    assert (await hidden.call("resources__list", {}, Call())).structured
    with pytest.raises(UnknownToolError):
        await hidden.call("other", {}, Call())


@given(st.text(max_size=60), st.integers(4, 20))
def test_windows_put_together_are_the_whole_text(text: str, size: int) -> None:
    data, at, pieces = text.encode(), 0, []
    while at < len(data):
        piece, at = window(data, at, size)
        pieces.append(piece)

    assert "".join(pieces) == text
    assert all(len(piece.encode()) <= size for piece in pieces)
