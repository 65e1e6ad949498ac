"""No path leads from a tool call to a sent request without a recorded verdict."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

import anyio
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.conftest import document
from gateway.judged import Judged
from ui_mcp.errors import UiMcpError
from ui_mcp.gateway.config.settings import Decision
from ui_mcp.gateway.openapi.arguments import META, OPTIONS
from ui_mcp.gateway.openapi.response import MAX_PAGES
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.toolkit.tool import Call

DECISIONS = get_args(Decision)
METHODS = ("get", "post", "put", "patch", "delete")
NAMES = st.sampled_from((*OPTIONS, "id", "body", "q", "dry_run", f"{META}dry_run", "content_type"))
VALUES: st.SearchStrategy[Json] = st.recursive(
    st.sampled_from([None, True, False, "true", "false", "", "yes", 0, 1, 2, -1, 1.0, "1"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=3,
)
ARGUMENTS = st.dictionaries(NAMES, VALUES, max_size=5)
METAS = st.dictionaries(st.sampled_from([f"{META}{name[1:]}" for name in OPTIONS] + ["x"]), VALUES, max_size=3)
PLACES = st.sampled_from(("query", "header", "cookie"))


def described(method: str, parameters: dict[str, str]) -> Json:
    """An API with one operation, whose parameters may be named like options."""
    named = [{"name": name, "in": place, "schema": {}} for name, place in parameters.items()]
    body: JsonObject = {} if method == "get" else {"requestBody": {"content": {"application/json": {"schema": {}}}}}
    operation = {"operationId": "go", "parameters": named, "responses": {}, **body}
    return document({"/x": {method: operation}}, servers=[{"url": "http://api.example"}])


async def called(api: Judged, arguments: JsonObject, meta: JsonObject) -> None:
    try:
        await api.enforcer.call("api__go", arguments, Call(meta=meta))
    except UiMcpError:
        return


@pytest.mark.covers("R-AP-1", "R-AP-15", "GW-AUD-1", "GW-REL-4")
@given(
    method=st.sampled_from(METHODS),
    decision=st.sampled_from(DECISIONS),
    parameters=st.dictionaries(NAMES, PLACES, max_size=3),
    arguments=ARGUMENTS,
    meta=METAS,
)
@example(
    method="delete", decision="deny_abort", parameters={}, arguments={"_dry_run": True}, meta={f"{META}dry_run": False}
)
@example(method="delete", decision="ask", parameters={"_dry_run": "query"}, arguments={"_dry_run": True}, meta={})
@example(method="post", decision="allow", parameters={}, arguments={"_pages": 5}, meta={})
def test_nothing_is_sent_without_a_recorded_verdict(
    method: str, decision: Decision, parameters: dict[str, str], arguments: JsonObject, meta: JsonObject
) -> None:
    with TemporaryDirectory() as folder:
        api = Judged(Path(folder), fixed={"api__go": decision})
        api.adopt(described(method, parameters))
        anyio.run(called, api, arguments, meta)
        outcomes = [line["outcome"] for line in api.noted]
        api.end()

    assert len(outcomes) == 1
    most = MAX_PAGES if method == "get" else 1  # only what reads is sent again for each page
    assert len(api.sent) <= (most if decision == "allow" else 0)
    if api.sent:
        assert outcomes == ["policy_allow"]
        assert api.sent[0].method == method.upper()
