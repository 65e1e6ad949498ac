"""Borders: what a mounted MCP server lists, answers and asks, as bytes on its pipe."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from hypothesis import strategies as st

from fuzz.border import Border
from fuzz.values import any_json, damage, damaged, mutated, text_of
from ui_mcp.gateway.config.configuration import GatewayOptions
from ui_mcp.gateway.config.settings import BackendSettings, GatewaySettings
from ui_mcp.gateway.mcp import gateway_definition
from ui_mcp.gateway.mount_connection import MountHandlers
from ui_mcp.gateway.service import GatewayContext, GatewayService, running_gateway
from ui_mcp.jsonrpc import messages
from ui_mcp.jsontypes import JsonObject
from ui_mcp.mcp_client.client import McpClient, Options, ServerRequestHandler
from ui_mcp.mcp_client.server_process import StdioWire, StdoutReader
from ui_mcp.mcp_client.session import Session
from ui_mcp.mcp_client.transport import NotificationHandlers, ServerInfo, relay_notifications
from ui_mcp.mcp_server.connection import ClientConnection
from ui_mcp.mcp_server.server import McpServer
from ui_mcp.validation import read

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string", "pattern": "^x*$", "enum": ["x"]}, "b": {"$ref": "#/$defs/n"}},
    "$defs": {"n": {"type": "integer", "minimum": 0, "default": 5}},
    "required": ["a"],
}
TOOL = {
    "name": "do",
    "title": "Do",
    "description": "It does.",
    "inputSchema": SCHEMA,
    "outputSchema": SCHEMA,
    "annotations": {"readOnlyHint": True, "title": "T"},
    "_meta": {"ui": {"resourceUri": "ui://x"}},
    "icons": [{"src": "data:,"}],
}
BLOCKS = [
    {"type": "text", "text": "done", "annotations": {"priority": 1, "audience": ["user"]}},
    {"type": "image", "data": "aGk=", "mimeType": "image/png"},
    {"type": "resource_link", "uri": "x://a", "name": "a"},
    {"type": "resource", "resource": {"uri": "x://a", "text": "t", "mimeType": "text/plain"}},
]
ANSWERS: dict[str, Any] = {
    "tools/list": {"tools": [TOOL, {**TOOL, "name": "other"}], "nextCursor": None},
    "resources/list": {"resources": [{"uri": "x://a", "name": "a", "size": 5, "mimeType": "text/plain"}]},
    "resources/templates/list": {"resourceTemplates": [{"uriTemplate": "x://{a}", "name": "t"}]},
    "prompts/list": {"prompts": [{"name": "p", "arguments": [{"name": "a", "required": True}]}]},
    "resources/read": {"contents": [{"uri": "x://a", "blob": "aGk=", "_meta": {}}], "ttlMs": 5},
    "prompts/get": {"messages": [{"role": "user", "content": BLOCKS[0]}]},
    "completion/complete": {"completion": {"values": ["a"], "total": 1, "hasMore": False}},
    "tools/call": {"content": BLOCKS, "structuredContent": {"a": "x"}, "isError": False, "_meta": {"k": 1}},
}
USES: list[tuple[str, Any]] = [
    ("tools/list", {}),
    ("resources/list", {}),
    ("resources/templates/list", {}),
    ("resources/read", {"uri": "x://a"}),
    ("prompts/list", {}),
    ("prompts/get", {"name": "bad__p", "arguments": {"a": "b"}}),
    ("completion/complete", {"ref": {"type": "ref/prompt", "name": "bad__p"}, "argument": {"name": "a", "value": "b"}}),
]
MESSAGE = {"role": "user", "content": {"type": "text", "text": "hi"}}
ASKED: list[Any] = [
    {"method": "sampling/createMessage", "params": {"messages": [MESSAGE], "maxTokens": 5, "tools": [TOOL]}},
    {"method": "elicitation/create", "params": {"message": "m", "requestedSchema": SCHEMA, "mode": "form"}},
    {"method": "roots/list", "params": {}},
    {"method": "ping"},
    {"method": "notifications/progress", "params": {"progressToken": 1, "progress": 1, "total": 2, "message": "m"}},
    {"method": "notifications/resources/updated", "params": {"uri": "x://a"}},
    {"method": "notifications/tools/list_changed"},
    {"method": "notifications/message", "params": {"level": "info", "data": {}}},
    {"method": "notifications/cancelled", "params": {"requestId": "ask"}},
]
REPLIES: list[Any] = [
    {"action": "accept", "content": {"a": "x"}},
    {"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m", "stopReason": "endTurn"},
]


@dataclass(frozen=True, slots=True)
class Case:
    """What a server answers by method, what it says before each answer, and what its client replies when asked."""

    answers: dict[str, Any] = field(default_factory=dict)
    raw: bytes = b""
    asks: tuple[Any, ...] = ()
    reply: Any = None


class Upstream:
    """A server's end of the pipe, in this process: each request is answered from the case."""

    def __init__(self) -> None:
        self.case = Case()
        self.calls = 0
        """Calls of tools that came this far."""
        self.channel: StdoutReader

    def write(self, data: bytes) -> None:
        """Take what the client writes, as `pipes.Writer` does."""
        import orjson

        message = orjson.loads(data)
        if "id" in message and "method" in message:
            asyncio.get_running_loop().call_soon(self._respond, message)

    def _respond(self, message: Any) -> None:
        case = self.case
        self.calls += message["method"] == "tools/call"
        for number, one in enumerate(case.asks):
            extra = one if isinstance(one, dict) else {"method": one}
            whole = {"jsonrpc": "2.0", **({"id": f"ask{number}"} if number % 2 == 0 else {}), **extra}
            self.channel.take(text_of(whole).encode() + b"\n")
        if case.raw:
            self.channel.take(case.raw.replace(b"\n", b" ") + b"\n")
        result = case.answers.get(message["method"], ANSWERS.get(message["method"], {}))
        self.channel.take(text_of({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode() + b"\n")
        # Behind an answer that is no JSON, for which a client waits in vain, comes one that can be read.
        refusal = {"code": -32603, "message": "the server failed"}
        self.channel.take(text_of({"jsonrpc": "2.0", "id": message["id"], "error": refusal}).encode() + b"\n")


class Client:
    """An MCP client of the gateway that can be asked; its user always replies the same."""

    def __init__(self, gateway: GatewayService) -> None:
        self._conversation = ClientConnection(McpServer(gateway_definition(gateway, GatewayOptions())))
        self.reply: Any = None

    async def greet(self) -> None:
        """Shake hands."""
        able: JsonObject = {"sampling": {}, "elicitation": {}}
        hello = {"protocolVersion": "2025-06-18", "capabilities": able, "clientInfo": {"name": "t", "version": "1"}}
        await self.request("initialize", hello)

    async def request(self, method: str, params: Any) -> Any:
        """Send a request; what comes back can be written and is never an opaque failure."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = await self._conversation.answer(message, self._outlet)
        assert answer is not None
        messages.decode(messages.encode(answer))
        assert answer.get("error", {}).get("message") != "Internal error"
        return answer

    async def _outlet(self, message: Any) -> None:
        """Answer what the gateway or a server behind it asks."""
        if "id" in message:
            answer = {"jsonrpc": "2.0", "id": message["id"], "result": self.reply}
            try:
                self._conversation.receive(messages.decode(text_of(answer).encode()), self._outlet)
            except ValueError:  # no JSON at all: the transport has refused it
                self._conversation.receive({**answer, "result": {}}, self._outlet)


class Mounted:
    """A gateway with a fuzzed server and a good one, as a client of the gateway uses it."""

    def __init__(self, gateway: GatewayService, upstreams: dict[str, Upstream]) -> None:
        self._gateway, self._upstreams = gateway, upstreams
        self.client = Client(gateway)

    async def take(self, case: Case) -> None:
        self._upstreams["bad"].case, self.client.reply = case, case.reply
        mount = await self._gateway.sources.attach(BackendSettings(name="bad", command="none", timeout_s=20))
        try:
            await mount.settled(20)
            for entry in list(mount.entries())[:1]:
                await self.client.request("tools/call", {"name": entry.name, "arguments": {"a": "x"}})
            for method, params in USES:
                if method in case.answers:
                    await self.client.request(method, params)
        finally:
            await self._gateway.sources.detach("bad")

    async def neighbour_answers(self) -> None:
        answer = await self.client.request("tools/call", {"name": "good__do", "arguments": {"a": "x"}})
        assert "result" in answer, answer
        assert answer["result"]["structuredContent"] == {"a": "x"}
        assert "good" in {one.name for one in self._gateway.health() if one.state == "active"}


def connect_to(upstreams: dict[str, Upstream]) -> Any:
    """Return how mounts reach these servers, as `runner.connector` does for real ones."""

    @asynccontextmanager
    async def connect(settings: BackendSettings, listeners: MountHandlers) -> AsyncIterator[McpClient]:
        callers = ServerRequestHandler(())
        notified = relay_notifications(listeners.list_changed, listeners.resource_updated)
        hooks = NotificationHandlers(notified, callers.answer, listeners.stderr, callers.capabilities)
        problem: Exception | None = None
        async with anyio.create_task_group() as tasks:
            upstream = upstreams[settings.name]
            session = Session(StdioWire(upstream), hooks, tasks)  # type: ignore[arg-type]
            upstream.channel = StdoutReader(session)
            kinds: dict[str, Any] = {"tools": {}, "resources": {}, "prompts": {}}
            session.server_info = ServerInfo(False, "s", None, kinds)
            try:
                yield McpClient(session, callers, Options(call_seconds=20))
            except Exception as error:  # raised again outside, as `client.connected` does
                problem = error
            tasks.cancel_scope.cancel()
        if problem is not None:
            raise problem

    return connect


@asynccontextmanager
async def mounted_opened(folder: Path) -> AsyncIterator[Mounted]:
    upstreams = {"good": Upstream(), "bad": Upstream()}
    settings = read(GatewaySettings, {"mcp": {"servers": [{"name": "good", "command": "none"}]}})
    around = GatewayContext(folder / "data", folder / "cache", connect_to(upstreams))
    async with running_gateway(settings, around) as gateway:
        await gateway.sources.ready()
        mounted = Mounted(gateway, upstreams)
        await mounted.client.greet()
        yield mounted


def answers(*methods: str) -> st.SearchStrategy[Case]:
    """Return servers that answer these methods wrongly."""
    wrong = st.fixed_dictionaries({}, optional={method: mutated(ANSWERS[method]) | any_json for method in methods})
    return st.builds(Case, wrong)


asks = st.lists(st.sampled_from(ASKED) | mutated(*ASKED) | any_json, min_size=1, max_size=3).map(tuple)
raws = st.builds(lambda tree, changes: damaged(text_of(tree).encode(), changes), mutated(*ASKED) | any_json, damage)

BORDERS = [
    Border(
        "lists of a mounted server",
        answers(*(method for method in ANSWERS if method != "tools/call")),
        mounted_opened,
        150,
    ),
    Border("results of tools", answers("tools/call"), mounted_opened, 150),
    Border(
        "sampling and elicitation",
        st.builds(Case, st.just({}), raws | st.just(b""), asks, mutated(*REPLIES) | any_json),
        mounted_opened,
        150,
    ),
]
