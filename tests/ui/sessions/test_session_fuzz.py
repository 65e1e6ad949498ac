"""Whatever a page sends, its session goes on working."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ui_mcp.jsontypes import Json
from ui_mcp.testing import project
from ui_mcp.testing.browser import open_page

EXAMPLES = Path(__file__).parents[3] / "examples"

numbers = st.integers(-5, 200) | st.integers() | st.floats()
scalars = st.none() | st.booleans() | numbers | st.text(max_size=8)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner))
paths = st.sampled_from(
    [
        "search",
        "found()",
        "current",
        "list.0.firstName",
        "list[1]",
        "..",
        "add()",
        "remove()",
        "mail()",
        "x.y",
        "f(1)",
        "a ? b : c",
        "",
        "list?wrapper=lua.ViewList",
        "found()?wrapper=lua.ViewList&itemWrapper=ContactRow",
        "select(_)",
    ]
) | st.text(max_size=12)
properties = st.dictionaries(
    st.sampled_from(["path", "access", "wrapper", "type", "inactive", "priority", "namespace", "editable", "viewdefs"]),
    paths | st.sampled_from(["r", "w", "rw", "action", "high:low"]),
)
data = st.fixed_dictionaries(
    {},
    optional={
        "id": numbers,
        "varId": numbers,
        "parentId": numbers,
        "value": values,
        "properties": properties | values,
        "nowatch": values,
        "expand": values,
    },
)
kinds = st.sampled_from(["create", "update", "destroy", "watch", "unwatch", "error", "view", "get"]) | st.text(
    max_size=5
)
messages = (
    st.fixed_dictionaries({"type": kinds, "data": data | values})
    | st.tuples(numbers, numbers)
    | st.tuples(numbers, numbers, values)
    | values
)
frames = (
    st.builds(lambda user, found: {"userEvent": user, "messages": found}, st.booleans(), st.lists(messages, max_size=6))
    | st.lists(messages, max_size=4)
    | messages
)


async def survives(batches: list[Json]) -> None:
    with TemporaryDirectory() as folder:
        workspace = project.make_workspace(Path(folder), EXAMPLES / "contacts")
        async with project.open_sessions(workspace, project.settings(hotload=False)) as sessions:
            session = sessions.get("1")
            await session.display("contacts")
            async with session.attach() as hostile, open_page(session) as browser:
                for batch in batches:
                    await hostile.receive(json.dumps(batch) if not isinstance(batch, str) else batch)
                browser.catch_up()
                await session.run_lua("contacts.search = 'zzz'")
                browser.catch_up()

                assert browser.value("search") == "zzz"
                assert hostile.closed is None


@pytest.mark.slow
@pytest.mark.covers("UI-ROB-1", "UI-VAR-9", "UI-WIRE-3")
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(frames | st.text(max_size=30), min_size=1, max_size=40))
def test_no_sequence_of_frames_breaks_a_session(batches: list[Json]) -> None:
    anyio.run(survives, batches)
