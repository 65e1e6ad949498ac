"""Border: what a client's user answers when a call needs approval; nothing but a clear yes may let it run."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from fuzz.border import Border
from fuzz.mounted import TOOL, Case, Client, Upstream, connect_to
from fuzz.values import any_json, mutated, text_of
from ui_mcp.gateway.config.settings import GatewaySettings
from ui_mcp.gateway.service import GatewayContext, GatewayService, running_gateway
from ui_mcp.jsonrpc import messages
from ui_mcp.validation import read

YES = {"action": "accept", "content": {"decision": "approve", "reason": "fine"}}
NO: list[Any] = [
    {"action": "decline"},
    {"action": "cancel"},
    {"action": "accept", "content": {"decision": "deny_continue"}},
    {"action": "accept", "content": {"decision": "approve_always"}},
]
WRITES = {"tools": [{**TOOL, "name": "add", "annotations": {"destructiveHint": True}, "outputSchema": None}]}


class Asked:
    """A gateway that asks before it writes, and a client whose user answers anything."""

    def __init__(self, gateway: GatewayService, upstream: Upstream) -> None:
        self._upstream = upstream
        self._client = Client(gateway)
        self._numbers = count()

    @property
    def reply(self) -> Any:
        """What the user says now."""
        return self._client.reply

    async def greet(self) -> None:
        """Shake hands as a client with a user."""
        await self._client.greet()

    async def take(self, case: Any) -> None:
        assert await self._ran(case) == _is_yes(case)

    async def neighbour_answers(self) -> None:
        assert await self._ran(YES)

    async def _ran(self, reply: Any) -> bool:
        before, self._client.reply = self._upstream.calls, reply
        arguments = {"a": "x", "n": next(self._numbers)}
        await self._client.request("tools/call", {"name": "good__add", "arguments": arguments})
        return self._upstream.calls > before


def _is_yes(reply: Any) -> bool:
    try:
        heard = messages.decode(text_of(reply).encode())
    except ValueError:
        return False
    content = heard.get("content") if isinstance(heard, dict) else None
    return isinstance(content, dict) and heard.get("action") == "accept" and content.get("decision") == "approve"


@asynccontextmanager
async def approvals_opened(folder: Path) -> AsyncIterator[Asked]:
    upstream = Upstream()
    upstream.case = Case({"tools/list": WRITES})
    chosen = {"mcp": {"servers": [{"name": "good", "command": "none"}]}}
    around = GatewayContext(
        folder / "data",
        folder / "cache",
        connect_to({"good": upstream}),
        mode="guard",
        approval_timeout=lambda _: 20.0 if _is_yes(asked.reply) else 0.02,  # no one else answers what stays open
    )
    async with running_gateway(read(GatewaySettings, chosen), around) as gateway:
        await gateway.sources.ready()
        asked = Asked(gateway, upstream)
        await asked.greet()
        yield asked


BORDERS = [Border("answers to approvals", mutated(YES, *NO) | st.sampled_from(NO) | any_json, approvals_opened, 100)]
