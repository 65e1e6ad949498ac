"""Tools written as one function each: `@tool` declares one, `FunctionToolset` serves a list of them."""

from collections.abc import Awaitable, Callable, Sequence
from inspect import getdoc
from typing import Any, Generic, TypeVar

from ui_mcp.errors import InvalidArgumentsError, UnknownToolError
from ui_mcp.fields import fields_of, unmarked
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.toolkit.schemas import input_schema
from ui_mcp.toolkit.tool import Annotations, Call, Tool, ToolResult, json_result, text_result
from ui_mcp.validation import InvalidDataError, Problem, read

C = TypeVar("C")
A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class NoArgs:
    """For tools that take nothing."""


@dataclass(frozen=True, slots=True)
class FunctionTool(Generic[C]):
    """A tool whose body is one coroutine function of a context, its arguments and the call."""

    tool: Tool
    args: type[Any]
    body: Callable[[C, Any, Call], Awaitable[ToolResult | Json]]
    refused: Callable[[InvalidArgumentsError], ToolResult] | None = None
    """Turns an argument error into a result in the tool's own format; if absent, the error is raised."""

    async def run(self, context: C, arguments: JsonObject, call: Call) -> ToolResult:
        """Validate `arguments`, run the body, and convert its return value into a result."""
        try:
            parsed = parse(self.args, arguments)
        except InvalidArgumentsError as error:
            if self.refused is None:
                raise
            return self.refused(error)
        answer = await self.body(context, parsed, call)
        if isinstance(answer, ToolResult):
            return answer
        return text_result(answer) if isinstance(answer, str) else json_result(answer)


def tool(
    name: str,
    args: type[A],
    *,
    title: str,
    annotations: Annotations = Annotations(),
    aliases: tuple[str, ...] = (),
    meta: JsonObject | None = None,
    app_only: bool = False,
    refused: Callable[[InvalidArgumentsError], ToolResult] | None = None,
) -> Callable[[Callable[[C, A, Call], Awaitable[ToolResult | Json]]], FunctionTool[C]]:
    """Declare a tool; the decorated function's docstring becomes its description."""

    def declare(body: Callable[[C, A, Call], Awaitable[ToolResult | Json]]) -> FunctionTool[C]:
        described = Tool(
            name=name,
            title=title,
            description=getdoc(body) or "",
            input_schema=input_schema(args),
            annotations=annotations,
            aliases=aliases,
            meta=meta,
            app_only=app_only,
        )
        return FunctionTool(described, args, body, refused)

    return declare


def parse(args: type[A], arguments: JsonObject) -> A:
    """Read arguments into their class.

    Raises:
        InvalidArgumentsError: names each field and what is wrong with it.
    """
    try:
        _refuse_words_for_booleans(args, arguments)
        return read(args, arguments)
    except InvalidDataError as error:
        known = ", ".join(field.names[0] for field in fields_of(args).values()) or "none"
        raise InvalidArgumentsError(f"Invalid arguments: {error}\nKnown arguments: {known}") from error


def _refuse_words_for_booleans(args: type[Any], arguments: JsonObject) -> None:
    """Refuse `"yes"` and `1`, which settings may use: a call that overwrites files must not be taken on a guess."""
    known = {
        name for field in fields_of(args).values() if unmarked(field.annotation)[0] is bool for name in field.names
    }
    wrong = [
        Problem((name,), "should be true or false", given)
        for name, given in arguments.items()
        if name in known and not isinstance(given, bool | None) and str(given).lower() not in {"true", "false"}
    ]
    if wrong:
        raise InvalidDataError(*wrong)


class FunctionToolset(Generic[C]):
    """Serves function tools that share one context."""

    def __init__(self, context: C, tools: Sequence[FunctionTool[C]]) -> None:
        self._context = context
        self._tools = [entry.tool for entry in tools]
        self._by_name = {name: entry for entry in tools for name in (entry.tool.name, *entry.tool.aliases)}

    async def tools(self, call: Call) -> Sequence[Tool]:
        return self._tools

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        entry = self._by_name.get(name)
        if entry is None:
            raise UnknownToolError(name)
        return await entry.run(self._context, arguments, call)
