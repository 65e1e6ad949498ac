"""Tools written as one function each: `@tool` declares one, `FunctionToolset` serves a list of them."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from inspect import getdoc
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from ui_mcp.errors import InvalidArgumentsError, UnknownToolError
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.toolkit.tool import Annotations, Call, Tool, ToolResult, json_result, text_result

C = TypeVar("C")
A = TypeVar("A", bound=BaseModel)


class Args(BaseModel):
    """Base of every tool's arguments: unknown fields are errors."""

    model_config = ConfigDict(extra="forbid")


class NoArgs(Args):
    """For tools that take nothing."""


@dataclass(frozen=True, slots=True)
class FunctionTool(Generic[C]):
    """A tool whose body is one coroutine function of a context, its arguments and the call."""

    tool: Tool
    args: type[BaseModel]
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


def input_schema(args: type[BaseModel]) -> JsonObject:
    """Return the JSON Schema of `args` without pydantic's generated titles, which only cost tokens."""
    schema = _untitled(args.model_json_schema())
    schema.pop("description", None)
    schema.setdefault("properties", {})
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _untitled(node: Json) -> Json:
    match node:
        case dict():
            return {
                key: {name: _untitled(sub) for name, sub in value.items()} if key == "properties" else _untitled(value)
                for key, value in node.items()
                if not (key == "title" and isinstance(value, str))
            }
        case list():
            return [_untitled(item) for item in node]
        case _:
            return node


def parse(args: type[A], arguments: JsonObject) -> A:
    """Validate arguments against their model.

    Raises:
        InvalidArgumentsError: names each field and what is wrong with it.
    """
    try:
        # Lax validation: models often send numbers and booleans as text.
        return args.model_validate(arguments, strict=False)
    except ValidationError as error:
        problems = [
            f"{'.'.join(map(str, problem['loc'])) or 'arguments'}: {problem['msg'].removeprefix('Value error, ')}"
            for problem in error.errors()
        ]
        known = ", ".join(field.alias or name for name, field in args.model_fields.items()) or "none"
        raise InvalidArgumentsError(f"Invalid arguments: {'; '.join(problems)}\nKnown arguments: {known}") from error


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
