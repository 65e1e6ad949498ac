"""A foreign server as Toolset and ResourceSet; its requests to us."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from math import inf

import anyio

from ui_mcp.errors import MountError, ResourceNotFoundError, UpstreamError
from ui_mcp.jsonrpc import messages
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.log import logger
from ui_mcp.mcp_client import parsing
from ui_mcp.mcp_client.server_process import Mode, ShutdownTimeouts, stdio_server
from ui_mcp.mcp_client.transport import Address, Command, NotificationHandlers, RequestTimeout, Transport, relayed
from ui_mcp.toolkit.announcements import ListKind
from ui_mcp.toolkit.resources import Resource, ResourceContent, ResourceTemplate
from ui_mcp.toolkit.tool import Call, InputNeeded, Tool, ToolResult

REFUSED = -1
"""The code for a sampling request that nobody answers."""

_FORWARDED = {"sampling/createMessage": "sampling", "elicitation/create": "elicitation"}


class ServerRequestHandler:
    """The calls one server works on."""

    def __init__(self, roots: Sequence[str] = ()) -> None:
        self._roots = roots
        self._open: dict[int, Call] = {}

    @property
    def capabilities(self) -> JsonObject:
        """What the server is told we can do."""
        forwarded: JsonObject = {"sampling": {}, "elicitation": {}}
        return {**forwarded, "roots": {"listChanged": False}} if self._roots else forwarded

    @contextmanager
    def calling(self, call: Call) -> Iterator[None]:
        """Let the caller be asked for as long as the block runs."""
        self._open[id(call)] = call
        try:
            yield
        finally:
            self._open.pop(id(call), None)

    async def answer(self, method: str, params: JsonObject) -> JsonObject:
        """Answer a request of the server.

        Raises:
            UpstreamError: we do not know the method, or nobody who is calling can answer it.
        """
        if method == "ping":
            return {}
        if method == "roots/list" and self._roots:
            return {"roots": [{"uri": uri} for uri in self._roots]}
        if method not in _FORWARDED:
            raise UpstreamError(f"Method not found: {method}")
        caller = self._able(_FORWARDED[method])
        if caller is not None and caller.ask_client is not None:
            return await caller.ask_client(method, params)
        if method == "elicitation/create":
            return {"action": "decline"}
        raise UpstreamError("No client that is calling this server can sample", rpc_code=REFUSED)

    async def answered(self, request: Json) -> JsonObject:
        """Answer a request that came inside a result of the modern era."""
        if not isinstance(request, dict) or not isinstance(request.get("method"), str):
            raise UpstreamError("The server's question could not be read")
        return await self.answer(request["method"], request.get("params") or {})

    def _able(self, capability: str) -> Call | None:
        """Return the latest caller who declared the capability and can be asked."""
        able = (call for call in reversed(self._open.values()) if call.ask_client and capability in call.capabilities)
        return next(able, None)


def can_answer(call: Call, requests: JsonObject) -> bool:
    """Say whether a client of the modern era can answer all of these itself."""
    methods = [one.get("method") if isinstance(one, dict) else None for one in requests.values()]
    return call.era == "modern" and all(_FORWARDED.get(str(method)) in call.capabilities for method in methods)


MAX_PAGES = 1000
MAX_ROUNDS = 10
_log = logger("mcp.client")


@dataclass(frozen=True, slots=True)
class Options:
    """How to talk to a server, and whom to tell what it says."""

    call_seconds: float = 60.0
    """How long a call may be silent; progress extends it."""
    start_seconds: float = 30.0
    mode: Mode = "auto"
    list_changed: Callable[[ListKind], None] = lambda _: None
    resource_updated: Callable[[str, JsonObject | None], None] = lambda *_: None
    stderr: Callable[[str], None] = lambda _: None
    roots: Sequence[str] = field(default=())
    farewell: Callable[[], ShutdownTimeouts] = ShutdownTimeouts
    """How long a child process may take to end."""


@asynccontextmanager
async def connect(address: Address, options: Options = Options()) -> AsyncIterator["McpClient"]:
    """Connect to a server for as long as the block runs.

    Raises:
        MountError: it could not be started or reached, or does not speak MCP.
    """
    callers = ServerRequestHandler(options.roots)
    hooks = NotificationHandlers(
        notified=relayed(options.list_changed, options.resource_updated),
        asked=callers.answer,
        stderr=options.stderr,
        capabilities=callers.capabilities,
    )
    started = False
    problem: Exception | None = None
    with anyio.CancelScope(deadline=anyio.current_time() + options.start_seconds) as patience:
        try:
            async with _channel(address, hooks, options) as channel:
                started, patience.deadline = True, inf
                try:
                    yield McpClient(channel, callers, options)
                except Exception as error:  # noqa: BLE001 - raised again outside, free of the groups' wrapping
                    problem = error
        except Exception as error:
            if not started:
                cause = first_of(error)
                if isinstance(cause, MountError):
                    raise cause from error
                raise MountError(f"The server could not be reached: {reason(error)}") from error
            _log.info("The connection ended badly: %s", reason(error))
    if patience.cancelled_caught:
        raise MountError(f"The server did not answer within {options.start_seconds:g} s")
    if problem is not None:
        raise problem


def _channel(address: Address, hooks: NotificationHandlers, options: Options) -> AbstractAsyncContextManager[Transport]:
    if isinstance(address, Command):
        return stdio_server(address, hooks, options.mode, options.farewell)
    from ui_mcp.mcp_client.http import sdk_channel

    return sdk_channel(address, hooks, legacy=options.mode == "legacy")


class McpClient:
    """The connected server; `lost` is set when its end of the connection closes."""

    def __init__(self, channel: Transport, callers: ServerRequestHandler, options: Options) -> None:
        self._channel = channel
        self._callers = callers
        self._seconds = options.call_seconds
        self._lists = parsing.Lists()
        self.lost = channel.lost
        greeting = channel.greeting
        self.modern = greeting.modern
        """Whether the server speaks the modern era."""
        self.name = greeting.name
        """The name the server gives itself."""
        self.instructions = greeting.instructions
        """What the server tells agents about itself."""

    @property
    def notes(self) -> Sequence[str]:
        """What of its lists was left out or repaired because it was malformed."""
        return self._lists.notes

    def offers(self, kind: ListKind) -> bool:
        """Say whether the server has tools, resources or prompts at all."""
        return self._channel.greeting.capabilities.get(kind) is not None

    async def ping(self) -> None:
        """See whether the server is still there."""
        await self._ask("tools/list" if self.modern else "ping", {})

    async def tools(self, call: Call) -> Sequence[Tool]:
        """Return the server's tools, all pages."""
        return self._lists.read("tool", await self._pages("tools", "tools/list", "tools"), parsing.tool)

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        """Call a tool; its result passes through whole."""
        patience = RequestTimeout(self._seconds, call.progress)
        with self._callers.calling(call):
            try:
                params = {"name": name, "arguments": arguments}
                if call.given is not None and self.modern:
                    params |= {"inputResponses": call.given.responses, "requestState": call.given.state}
                body = await self._channel.request("tools/call", params, patience)
                if body.get("resultType") == "input_required":
                    return await self._with_input(params, body, call, patience)
                return parsing.tool_result(body)
            except UpstreamError as error:
                if error.details.get("silent"):
                    raise UpstreamError(f"{name} did not answer within {self._seconds:g} s") from error
                raise

    async def _with_input(
        self, params: JsonObject, body: JsonObject, call: Call, patience: RequestTimeout
    ) -> ToolResult:
        """Get what a modern server needs first: its client asks where it is modern too, else we do, and call again."""
        for _ in range(MAX_ROUNDS):
            if body.get("resultType") != "input_required":
                return parsing.tool_result(body)
            requests, state = body.get("inputRequests") or {}, body.get("requestState")
            if not isinstance(requests, dict):
                raise parsing.MalformedError(f"{params['name']} asked for input in a form that cannot be read")
            if requests and isinstance(state, str) and can_answer(call, requests):
                return ToolResult((), needs=InputNeeded(requests, state))
            answers = {key: await self._callers.answered(one) for key, one in requests.items()}
            again = {**params, "inputResponses": answers, "requestState": state}
            body = await self._channel.request(
                "tools/call", {key: value for key, value in again.items() if value is not None}, patience
            )
        raise UpstreamError(f"{params['name']} asked for input more than {MAX_ROUNDS} times")

    async def resources(self, call: Call) -> Sequence[Resource]:
        """Return the server's resources, all pages."""
        pages = await self._pages("resources", "resources/list", "resources")
        return self._lists.read("resource", pages, parsing.resource)

    async def templates(self, call: Call) -> Sequence[ResourceTemplate]:
        """Return the server's resource templates, all pages."""
        pages = await self._pages("resources", "resources/templates/list", "resourceTemplates")
        return self._lists.read("resource template", pages, parsing.template)

    async def read(self, uri: str, call: Call) -> Sequence[ResourceContent]:
        """Read one resource."""
        if not self.offers("resources"):
            raise ResourceNotFoundError(uri)
        try:
            body = await self._ask("resources/read", {"uri": uri})
        except UpstreamError as error:
            if error.details.get("rpc_code") in {messages.INVALID_PARAMS, messages.RESOURCE_NOT_FOUND}:
                raise ResourceNotFoundError(uri, error.message) from error
            raise
        return parsing.contents(body, uri)

    async def prompts(self, call: Call) -> Sequence[JsonObject]:
        """Return the server's prompts as they came, all pages."""
        return self._lists.read("prompt", await self._pages("prompts", "prompts/list", "prompts"), parsing.prompt)

    async def get(self, name: str, arguments: Mapping[str, str], call: Call) -> JsonObject:
        """Return one prompt's messages."""
        with self._callers.calling(call):
            body = await self._ask("prompts/get", {"name": name, "arguments": dict(arguments)})
            return parsing.prompt_result(body)

    async def complete(self, reference: JsonObject, argument: JsonObject, call: Call) -> JsonObject:
        """Complete an argument."""
        body = await self._ask("completion/complete", {"ref": reference, "argument": argument})
        return parsing.completion(body)

    async def subscribe(self, uri: str) -> None:
        """Ask to be told of changes of `uri`."""
        await self._channel.subscribe(uri)

    async def unsubscribe(self, uri: str) -> None:
        """Stop being told of changes of `uri`."""
        await self._channel.unsubscribe(uri)

    async def _pages(self, kind: ListKind, method: str, key: str) -> list[Json]:
        """Return the list of each page as it came."""
        if not self.offers(kind):
            return []
        page = await self._ask(method, {})
        found = [page.get(key)]
        for _ in range(MAX_PAGES):
            cursor = page.get("nextCursor")
            if not cursor or not isinstance(cursor, str):
                break
            page = await self._ask(method, {"cursor": cursor})
            found.append(page.get(key))
        return found

    async def _ask(self, method: str, params: JsonObject) -> JsonObject:
        return await self._channel.request(method, params, RequestTimeout(self._seconds, _unheard))


async def _unheard(done: float, total: float | None, message: str | None) -> None:
    return None


def first_of(error: BaseException) -> BaseException:
    """Return the first cause of a group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def reason(error: BaseException) -> str:
    """Say in one line why a foreign server failed; the first cause of a group counts."""
    error = first_of(error)
    return next(iter(str(error).splitlines()), "") or type(error).__name__
