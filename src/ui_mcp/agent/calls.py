"""Runs the calls of one answer: side by side, recorded before and after, each with an outcome whatever happens."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import anyio

from ui_mcp.agent.journal import Happened
from ui_mcp.agent.model import ToolUse
from ui_mcp.agent.scribe import Scribe
from ui_mcp.agent.transcript import ABORTED
from ui_mcp.agent.vendor_names import VendorNames
from ui_mcp.errors import DeniedError, UiMcpError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.tool import Call, Text, ToolResult
from ui_mcp.toolkit.toolset import Toolset

CUT = "\n[… {left} more characters; ask for less, or for the next part …]"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A call of the present answer, under the id we gave it and its real name."""

    call_id: str
    name: str
    use: ToolUse


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call gave, for the model and for the timeline."""

    text: str
    status: str
    content: JsonObject
    result: ToolResult | None = None
    aborts: bool = False
    """Policy or a person said that the turn ends here."""


class Calls:
    """Makes calls on a toolset and writes them down."""

    def __init__(self, tools: Toolset, scribe: Scribe, posts: frozenset[str], max_chars: int, call: Call) -> None:
        self._tools = tools
        self._scribe = scribe
        self._posts = posts
        self._max_chars = max_chars
        self._call = call

    async def run_all(self, wanted: Sequence[Wanted], silent: frozenset[str]) -> list[Outcome]:
        """Run calls concurrently; outcomes are written in call order, also when the turn is cancelled meanwhile."""
        await self._scribe.write(*(_begun(one, silent=one.name in silent) for one in wanted))
        outcomes: dict[str, Outcome] = {}

        async def run(one: Wanted) -> None:
            outcomes[one.call_id] = await self._outcome(one)

        try:
            async with anyio.create_task_group() as tasks:
                for one in wanted:
                    tasks.start_soon(run, one)
        finally:
            with anyio.CancelScope(shield=True):
                done = [outcomes.get(one.call_id, _aborted()) for one in wanted]
                await self._scribe.write(
                    *(
                        happened
                        for one, outcome in zip(wanted, done, strict=True)
                        for happened in self._ended(one, outcome)
                    )
                )
        return done

    async def _outcome(self, one: Wanted) -> Outcome:
        if one.use.arguments is None:
            return failed(f"The arguments of {one.name} could not be read ({one.use.problem}); send a JSON object.")
        arguments = one.use.arguments
        if one.name in self._posts:
            # Posting again after a crash must not double the message.
            arguments = {"client_id": one.call_id, **arguments}
        try:
            # Whoever asks a person about this call can tell from its name which call it is.
            call = replace(self._call, client_name=f"{self._scribe.agent}/{one.call_id}")
            result = await self._tools.call(one.name, arguments, call)
        except DeniedError as error:
            return Outcome(
                error.message, "denied", _content(error.message, is_error=True),
                aborts=error.details.get("decision") == "deny_abort",
            )  # fmt: skip
        except UiMcpError as error:
            return failed(error.message)
        return self._answered(result)

    def _answered(self, result: ToolResult) -> Outcome:
        text = "\n".join(
            block.text if isinstance(block, Text) else f"[{type(block).__name__.lower()}]" for block in result.content
        )
        text = text.replace("\0", "")
        shown = text if len(text) <= self._max_chars else _cut(text, self._max_chars)
        value = result.structured if result.structured is not None else text
        status = "error" if result.is_error else "done"
        return Outcome(shown, status, _content(value, is_error=result.is_error), result)

    def _ended(self, one: Wanted, outcome: Outcome) -> list[Happened]:
        output = {"call_id": one.call_id, "text": outcome.text, "status": outcome.status, "content": outcome.content}
        events = [Happened("function_call_output", output)]
        if one.name in self._posts and outcome.status == "done" and outcome.result and outcome.result.structured:
            posted, arguments = outcome.result.structured, one.use.arguments or {}
            said = {
                "message_id": posted["id"],
                "mime": arguments.get("mime", "text/markdown"),
                "md": arguments.get("content", ""),
            }
            events.insert(0, Happened("ui_message", said))
        return events


def failed(text: str) -> Outcome:
    """Say that a call went wrong in a way the model can act on."""
    return Outcome(text, "error", _content(text, is_error=True))


def wanted_of(answer: Sequence[ToolUse], names: VendorNames, first_id: int) -> list[Wanted]:
    """Give each call of an answer an id that no other call of this agent has."""
    return [Wanted(f"{first_id}-{number}", names.back(use.name), use) for number, use in enumerate(answer, 1)]


def _aborted() -> Outcome:
    return Outcome(ABORTED, "aborted", _content(ABORTED, is_error=True))


def _begun(one: Wanted, *, silent: bool) -> Happened:
    data: JsonObject = {"call_id": one.call_id, "name": one.name, "args": one.use.arguments or {}}
    return Happened("tool_call", {**data, "silent": True} if silent else data)


def _content(value: object, *, is_error: bool) -> JsonObject:
    return {"kind": "json", "result": value, "is_error": is_error}


def _cut(text: str, limit: int) -> str:
    at = text.rfind("\n", limit // 2, limit)
    at = at if at > 0 else limit
    return text[:at] + CUT.format(left=len(text) - at)
