"""A foreign MCP server as Toolset and ResourceSet, and the requests that it sends to us."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from math import inf

import anyio
from anyio import CancelScope

from ui_mcp.errors import MountError, ResourceNotFoundError, UpstreamError
from ui_mcp.jsonrpc import messages
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.log import logger
from ui_mcp.mcp_client import parsing
from ui_mcp.mcp_client.http_headers import header_map
from ui_mcp.mcp_client.negotiation import Mode
from ui_mcp.mcp_client.server_process import ShutdownTimeouts, stdio_server
from ui_mcp.mcp_client.session import Session
from ui_mcp.mcp_client.sse import sse_session
from ui_mcp.mcp_client.streamable_http import http_session
from ui_mcp.mcp_client.tasks import TaskBegunError, UpstreamTask
from ui_mcp.mcp_client.transport import (
    CLIENT_NAME,
    Address,
    AskToSignIn,
    Command,
    HttpUrl,
    NotificationHandlers,
    RequestTimeout,
    relay_notifications,
)
from ui_mcp.toolkit.announcements import ListKind
from ui_mcp.toolkit.resources import Resource, ResourceContent, ResourceTemplate
from ui_mcp.toolkit.tool import Call, InputNeeded, Tool, ToolResult

REFUSED = -1
"""Error code for a sampling request that no caller can answer."""

_FORWARDED = {"sampling/createMessage": "sampling", "elicitation/create": "elicitation"}


class ServerRequestHandler:
    """Answers the requests of one server, from the calls that it is working on."""

    def __init__(
        self, roots: Sequence[str] = (), extensions: JsonObject | None = None, *, forwards: bool = True
    ) -> None:
        self._roots = roots
        self._forwards = forwards
        self._extensions = extensions
        self._open: dict[int, Call] = {}
        self._asking: dict[int, set[CancelScope]] = {}
        """What each call has made us ask; the answers are of no use once the call is over."""

    @property
    def capabilities(self) -> JsonObject:
        """The client capabilities that we declare to the server."""
        forwarded: JsonObject = {"sampling": {}, "elicitation": {}} if self._forwards else {}
        if self._extensions:
            forwarded["extensions"] = self._extensions
        return {**forwarded, "roots": {"listChanged": False}} if self._roots else forwarded

    @contextmanager
    def calling(self, call: Call) -> Iterator[None]:
        """Forward requests of the server to this caller while the block runs."""
        self._open[id(call)] = call
        try:
            yield
        finally:
            self._open.pop(id(call), None)
            for scope in self._asking.pop(id(call), ()):
                scope.cancel()

    async def answer(self, method: str, params: JsonObject) -> JsonObject:
        """Answer a request of the server.

        Raises:
            UpstreamError: the method is unknown, or no current caller can answer it.
        """
        if method == "ping":
            return {}
        if method == "roots/list" and self._roots:
            return {"roots": [{"uri": uri} for uri in self._roots]}
        if method not in _FORWARDED:
            raise UpstreamError(f"Method not found: {method}")
        caller = self._capable_call(_FORWARDED[method])
        if caller is not None and caller.ask_client is not None:
            return await self._asked(caller, caller.ask_client(method, params))
        if method == "elicitation/create":
            asking = next((call for call in reversed(self._open.values()) if call.ask_person), None)
            if asking is None or asking.ask_person is None:
                return {"action": "decline"}
            return await self._asked(asking, asking.ask_person(params))
        raise UpstreamError("No client that is calling this server can sample", rpc_code=REFUSED)

    async def _asked(self, call: Call, answer: Awaitable[JsonObject]) -> JsonObject:
        """Wait for an answer, but not longer than the call lasts."""
        with CancelScope() as scope:
            self._asking.setdefault(id(call), set()).add(scope)
            try:
                return await answer
            finally:
                self._asking.get(id(call), set()).discard(scope)
        raise UpstreamError("The call that this belongs to is over", rpc_code=REFUSED)

    async def answer_input_request(self, request: Json) -> JsonObject:
        """Answer a request from the `inputRequests` of a modern-era result."""
        if not isinstance(request, dict) or not isinstance(request.get("method"), str):
            raise UpstreamError("The server's question could not be read")
        return await self.answer(request["method"], request.get("params") or {})

    def _capable_call(self, capability: str) -> Call | None:
        """Return the latest call whose client declared the capability and takes requests."""
        able = (call for call in reversed(self._open.values()) if call.ask_client and capability in call.capabilities)
        return next(able, None)


def can_answer(call: Call, requests: JsonObject) -> bool:
    """Return whether the client is of the modern era and can answer all of these requests itself."""
    methods = [one.get("method") if isinstance(one, dict) else None for one in requests.values()]
    return call.era == "modern" and all(_FORWARDED.get(str(method)) in call.capabilities for method in methods)


MAX_PAGES = 1000
MAX_ROUNDS = 10
_log = logger("mcp.client")


@dataclass(frozen=True, slots=True)
class Options:
    """Timeouts, protocol mode and callbacks of one connection."""

    call_seconds: float = 60.0
    """Longest time without an answer or progress."""
    start_seconds: float = 30.0
    mode: Mode = "auto"
    list_changed: Callable[[ListKind], None] = lambda _: None
    resource_updated: Callable[[str, JsonObject | None], None] = lambda *_: None
    logged: Callable[[JsonObject], None] = lambda _: None
    """Called with the parameters of a log message."""
    stderr: Callable[[str], None] = lambda _: None
    sign_in: AskToSignIn | None = None
    """Lets the person sign in; None opens their browser."""
    roots: Sequence[str] = field(default=())
    extensions: JsonObject | None = None
    """Extensions of MCP that we declare."""
    client_name: str = CLIENT_NAME
    forwards_requests: bool = True
    """Whether callers may be able to answer questions of the server; else the server learns that no caller can."""
    shutdown_timeouts: Callable[[], ShutdownTimeouts] = ShutdownTimeouts
    """How long to wait for a child process to exit."""


@asynccontextmanager
async def connect(address: Address, options: Options = Options()) -> AsyncIterator["McpClient"]:
    """Connect to a server for as long as the block runs.

    Raises:
        MountError: it could not be started or reached, or does not speak MCP.
    """
    request_handler = ServerRequestHandler(options.roots, options.extensions, forwards=options.forwards_requests)
    handlers = NotificationHandlers(
        notified=relay_notifications(options.list_changed, options.resource_updated, options.logged),
        asked=request_handler.answer,
        stderr=options.stderr,
        capabilities=request_handler.capabilities,
        sign_in=options.sign_in,
        client_name=options.client_name,
        signing_in=lambda seconds: _prolong(timeout, seconds),
    )
    started = False
    problem: Exception | None = None
    with anyio.CancelScope(deadline=anyio.current_time() + options.start_seconds) as timeout:
        try:
            async with _open_transport(address, handlers, options) as session:
                started, timeout.deadline = True, inf  # the timeout is for connecting only
                try:
                    yield McpClient(session, request_handler, options)
                except Exception as error:  # noqa: BLE001 - raised again below, outside of the exception groups
                    problem = error
        except Exception as error:
            if not started:
                cause = first_of(error)
                if isinstance(cause, MountError):
                    raise cause from error
                if isinstance(cause, UpstreamError) and cause.details.get("fatal"):
                    raise MountError(cause.message, fatal=True) from error
                raise MountError(f"The server could not be reached: {reason(error)}") from error
            _log.info("The connection ended badly: %s", reason(error))
    if timeout.cancelled_caught:
        raise MountError(f"The server did not answer within {options.start_seconds:g} s")
    if problem is not None:
        raise problem


def _prolong(timeout: anyio.CancelScope, seconds: float) -> None:
    if timeout.deadline != inf:
        timeout.deadline = anyio.current_time() + seconds


def _open_transport(
    address: Address, handlers: NotificationHandlers, options: Options
) -> AbstractAsyncContextManager[Session]:
    if isinstance(address, Command):
        return stdio_server(address, handlers, options.mode, options.shutdown_timeouts)
    if isinstance(address, HttpUrl):
        return http_session(address, handlers, options.mode)
    return sse_session(address, handlers, options.mode)


class McpClient:
    """A connected server; `lost` is set when the server closes the connection."""

    def __init__(self, session: Session, request_handler: ServerRequestHandler, options: Options) -> None:
        self._session = session
        self._request_handler = request_handler
        self._seconds = options.call_seconds
        self._lists = parsing.Lists()
        self.lost = session.lost
        server_info = session.server_info
        self.modern = server_info.modern
        """Whether the server uses the modern era of the protocol."""
        self.name = server_info.name
        self.instructions = server_info.instructions
        """The server's instructions for agents."""

    @property
    def notes(self) -> Sequence[str]:
        """Entries of its lists that were malformed and therefore dropped or repaired."""
        return self._lists.notes

    def offers(self, kind: ListKind) -> bool:
        """Return whether the server declares tools, resources or prompts."""
        return self._session.server_info.capabilities.get(kind) is not None

    async def set_log_level(self, level: str) -> None:
        """Ask for log messages from a level on; does nothing if the server has none."""
        if not self.modern and self._session.server_info.capabilities.get("logging") is not None:
            await self._ask("logging/setLevel", {"level": level})

    async def ping(self) -> None:
        """Check that the server still answers."""
        # The modern era has no ping.
        await self._ask("tools/list" if self.modern else "ping", {})

    async def tools(self, call: Call) -> Sequence[Tool]:
        """Return the tools of all pages."""
        tools = self._lists.read("tool", await self._pages("tools", "tools/list", "tools"), self._tool)
        if self.modern:
            self._session.header_parameters = {tool.name: header_map(tool.input_schema) for tool in tools}
        return tools

    def _tool(self, entry: JsonObject, note: parsing.Note) -> Tool:
        made = parsing.tool(entry, note)
        try:
            if self.modern:
                header_map(made.input_schema)
        except ValueError as error:  # clients of the modern era must not use such a tool
            raise parsing.MalformedError(str(error)) from error
        return made

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        """Call a tool and return its result with all fields."""
        timeout = RequestTimeout(self._seconds, call.progress)
        with self._request_handler.calling(call):
            try:
                params = {"name": name, "arguments": arguments}
                if call.given is not None and self.modern:
                    params |= {"inputResponses": call.given.responses, "requestState": call.given.state}
                body = await self._session.request("tools/call", params, timeout)
                if body.get("resultType") == "input_required":
                    return await self._with_input(params, body, call, timeout)
                if body.get("resultType") == "task":
                    raise TaskBegunError(UpstreamTask(body))
                return parsing.tool_result(body)
            except UpstreamError as error:
                if error.details.get("silent"):
                    raise UpstreamError(f"{name} did not answer within {self._seconds:g} s") from error
                raise

    async def _with_input(
        self, params: JsonObject, body: JsonObject, call: Call, request_timeout: RequestTimeout
    ) -> ToolResult:
        """Handle `input_required`: return the requests to a modern client, else answer them and repeat the call."""
        for _ in range(MAX_ROUNDS):
            if body.get("resultType") != "input_required":
                return parsing.tool_result(body)
            requests, state = body.get("inputRequests") or {}, body.get("requestState")
            if not isinstance(requests, dict):
                raise parsing.MalformedError(f"{params['name']} asked for input in a form that cannot be read")
            if requests and isinstance(state, str) and can_answer(call, requests):
                return ToolResult((), needs=InputNeeded(requests, state))
            answers = {key: await self._request_handler.answer_input_request(one) for key, one in requests.items()}
            again = {**params, "inputResponses": answers, "requestState": state}
            body = await self._session.request(
                "tools/call", {key: value for key, value in again.items() if value is not None}, request_timeout
            )
        raise UpstreamError(f"{params['name']} asked for input more than {MAX_ROUNDS} times")

    async def task_changed(self, task: UpstreamTask, call: Call) -> ToolResult | None:
        """Ask about a task of the server, answer what it asks, and return its result; None while it still runs.

        Raises:
            UpstreamError: the task failed or was cancelled, or the server does not know it.
        """
        with self._request_handler.calling(call):
            task.read(await self._ask("tasks/get", {"taskId": task.id}))
            if task.questions:
                answers = {
                    key: await self._request_handler.answer_input_request(one) for key, one in task.questions.items()
                }
                await self._ask("tasks/update", {"taskId": task.id, "inputResponses": answers})
                task.answered(answers)
        return task.result()

    async def cancel_task(self, task_id: str) -> None:
        await self._ask("tasks/cancel", {"taskId": task_id})

    async def resources(self, call: Call) -> Sequence[Resource]:
        """Return the resources of all pages."""
        pages = await self._pages("resources", "resources/list", "resources")
        return self._lists.read("resource", pages, parsing.resource)

    async def templates(self, call: Call) -> Sequence[ResourceTemplate]:
        """Return the resource templates of all pages."""
        pages = await self._pages("resources", "resources/templates/list", "resourceTemplates")
        return self._lists.read("resource template", pages, parsing.template)

    async def read(self, uri: str, call: Call) -> Sequence[ResourceContent]:
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
        """Return the prompts of all pages, unchanged."""
        return self._lists.read("prompt", await self._pages("prompts", "prompts/list", "prompts"), parsing.prompt)

    async def get(self, name: str, arguments: Mapping[str, str], call: Call) -> JsonObject:
        with self._request_handler.calling(call):
            body = await self._ask("prompts/get", {"name": name, "arguments": dict(arguments)})
            return parsing.prompt_result(body)

    async def complete(self, reference: JsonObject, argument: JsonObject, call: Call) -> JsonObject:
        body = await self._ask("completion/complete", {"ref": reference, "argument": argument})
        return parsing.completion(body)

    async def subscribe(self, uri: str) -> None:
        await self._session.subscribe(uri)

    async def unsubscribe(self, uri: str) -> None:
        await self._session.unsubscribe(uri)

    async def _pages(self, kind: ListKind, method: str, key: str) -> list[Json]:
        """Return the list of each page, unchanged."""
        if not self.offers(kind):
            return []
        page = await self._ask(method, {})
        found = [page.get(key)]
        # Bounded, because a broken server may return cursors without end.
        for _ in range(MAX_PAGES):
            cursor = page.get("nextCursor")
            if not cursor or not isinstance(cursor, str):
                break
            page = await self._ask(method, {"cursor": cursor})
            found.append(page.get(key))
        return found

    async def _ask(self, method: str, params: JsonObject) -> JsonObject:
        return await self._session.request(method, params, RequestTimeout(self._seconds, _ignore_progress))


async def _ignore_progress(done: float, total: float | None, message: str | None) -> None:
    return None


def first_of(error: BaseException) -> BaseException:
    """Return the first exception of nested exception groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def reason(error: BaseException) -> str:
    """Return one line on why a foreign server failed; of an exception group, the first exception."""
    error = first_of(error)
    return next(iter(str(error).splitlines()), "") or type(error).__name__
