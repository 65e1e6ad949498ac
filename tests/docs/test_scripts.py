"""The script of the documentation, run by a gateway with the APIs it speaks of."""

from pathlib import Path

import anyio
import pytest

from docs.blocks import Block, blocks, together
from gateway.conftest import Recorder, document, json_reply, recorder
from gateway.gateways import gateway
from ui_mcp.gateway.approvals.service import Decision
from ui_mcp.jsontypes import Json, JsonObject, dumps

__all__ = ["recorder"]
PATIENCE = 50


def operation(name: str, schema: JsonObject) -> JsonObject:
    content = {"application/json": {"schema": {"type": "object", "properties": schema}}}
    return {"operationId": name, "requestBody": {"content": content}, "responses": {}}


API: Json = {
    "shop": {
        "/orders": {"get": {"operationId": "listOrders", "parameters": [
            {"name": "status", "in": "query", "schema": {"type": "string"}}], "responses": {}}},
        "/remind": {"post": operation("remind", {"orders": {"type": "array", "items": {"type": "integer"}}})},
    },
    "mail": {"/send": {"post": operation("send", {"to": {"type": "string"}, "text": {"type": "string"}})}},
}  # fmt: skip


@together("run", *blocks("docs/gateway.md", "lua"))
@pytest.mark.covers("GW-RUN-1", "GW-RUN-2")
async def test_the_script_reminds_customers_once_a_person_agrees(
    given: tuple[Block], tmp_path: Path, recorder: Recorder
) -> None:
    recorder.replies["/orders?status=open"] = json_reply([{"id": 1, "days": 20}, {"id": 2, "days": 3}])
    targets = []
    for name, paths in API.items():
        (tmp_path / f"{name}.json").write_text(dumps(document(paths)))
        targets.append({"name": name, "spec": str(tmp_path / f"{name}.json"), "base_url": recorder.url})
    async with gateway(tmp_path, targets=targets, policy={"mode": "host"}) as found:
        run_id = await (await found.scripts()).start(given[0].code, "local")
        with anyio.fail_after(PATIENCE):
            while not (asked := await found.approvals.pending()):
                await anyio.sleep(0.01)
        await found.approvals.decide(asked[0].id, Decision("approve", asked[0].digest, "me"))
        ended = await (await found.scripts()).outcome(run_id, "local", PATIENCE)

    assert asked[0].arguments["question"] == "Remind 1 customers?"
    assert ended.outcome is not None
    assert ended.outcome.get("value") == {"late": 1}, ended.outcome
    assert sorted(request.target for request in recorder.requests) == ["/orders?status=open", "/remind", "/send"]
