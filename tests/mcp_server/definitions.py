"""Small server definitions for tests: a few tools with unusual behaviour, a few resources."""

import os
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import anyio

from ui_mcp.errors import LuaError, NotStartedError, ResourceNotFoundError, UpstreamError
from ui_mcp.fields import Limit
from ui_mcp.mcp_server.definition import ServerDefinition
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.toolkit.functions import FunctionToolset, NoArgs, tool
from ui_mcp.toolkit.resources import Resource, ResourceContent, ResourceTemplate
from ui_mcp.toolkit.tool import Annotations, Call, Media, ToolResult, structured_result, text_result


@dataclass(frozen=True, slots=True)
class Words:
    """What is said."""

    text: Annotated[str, "The words."]
    times: Annotated[int, "How often; 1 unless told.", Limit(ge=1)] = 1


@tool("echo", Words, title="Echo", annotations=Annotations(read_only=True), aliases=("say.again",))
async def echo(context: Any, args: Words, call: Call) -> str:
    """Say it again."""
    return args.text * args.times


@tool("wait", NoArgs, title="Wait")
async def wait(context: Any, args: NoArgs, call: Call) -> list[Any]:
    """Block until the client leaves."""
    await call.closing()
    return []


@tool("hang", NoArgs, title="Hang")
async def hang(context: Any, args: NoArgs, call: Call) -> str:
    """Never answer."""
    await anyio.sleep_forever()
    return "never"


@tool("count", NoArgs, title="Count")
async def count(context: Any, args: NoArgs, call: Call) -> str:
    """Report progress, then answer."""
    for step in (1, 2):
        await call.progress(step, 2, f"step {step}")
    return "counted"


@tool("fail", NoArgs, title="Fail")
async def fail(context: Any, args: NoArgs, call: Call) -> str:
    """Fail in a way the agent can act on."""
    raise LuaError("attempt to index a nil value\napps/x/app.lua:3")


@tool("crash", NoArgs, title="Crash")
async def crash(context: Any, args: NoArgs, call: Call) -> str:
    """Fail with an unexpected error."""
    raise ZeroDivisionError("secret detail in /home/someone")


@tool("die", NoArgs, title="Die")
async def die(context: Any, args: NoArgs, call: Call) -> str:
    """End the whole process."""
    os._exit(3)


@tool("picture", NoArgs, title="Picture")
async def picture(context: Any, args: NoArgs, call: Call) -> ToolResult:
    """Answer with an image."""
    return ToolResult((Media("image", b"\x89PNG", "image/png"),))


@tool("facts", NoArgs, title="Facts")
async def facts(context: Any, args: NoArgs, call: Call) -> ToolResult:
    """Answer with structured content."""
    return structured_result({"ä": 1, "era": call.era, "principal": call.principal, "client": call.client_name})


@tool("odd", NoArgs, title="Odd")
async def odd(context: Any, args: NoArgs, call: Call) -> ToolResult:
    """Answer with text that UTF-8 cannot write."""
    return text_result("half a \ud83d face")


@tool("noisy", NoArgs, title="Noisy")
async def noisy(context: Any, args: NoArgs, call: Call) -> str:
    """Write to stdout in every way a library might."""

    def thread() -> None:
        print("from a thread")
        raise RuntimeError("a thread crashed")

    print("from print")
    os.write(1, b"from os.write\n")
    sys.__stdout__.write("from the original stdout\n")  # type: ignore[union-attr]
    command = [sys.executable, "-c", "import os; os.write(1, b'from a child\\n')"]
    await anyio.to_thread.run_sync(lambda: subprocess.run(command, check=True))
    running = threading.Thread(target=thread)
    running.start()
    await anyio.to_thread.run_sync(running.join)
    return "quiet"


@tool("ui_app_only", NoArgs, title="For pages", app_only=True)
async def app_only(context: Any, args: NoArgs, call: Call) -> str:
    """Serve embedded pages."""
    return "page"


class Resources:
    """One live resource, one document, one that needs a running server."""

    async def resources(self, call: Call) -> Sequence[Resource]:
        return [
            Resource("ui://state", "state", "Live state", "application/json"),
            Resource("ui://reference", "reference", "A guide", "text/markdown"),
        ]

    async def templates(self, call: Call) -> Sequence[ResourceTemplate]:
        return [ResourceTemplate("ui://{path}", "files", "Files")]

    async def read(self, uri: str, call: Call) -> Sequence[ResourceContent]:
        match uri:
            case "ui://state":
                return [ResourceContent(uri, "application/json", "[]")]
            case "ui://reference":
                return [ResourceContent(uri, "text/markdown", "# Guide", ttl_ms=60_000)]
            case "ui://bytes":
                return [ResourceContent(uri, "application/octet-stream", b"\x00\xff")]
            case "ui://later":
                raise NotStartedError
            case "ui://broken":
                raise UpstreamError("The shelf is on fire")
            case "ui://nothing":
                return []
        raise ResourceNotFoundError(uri)


TOOLS = [echo, wait, hang, count, fail, crash, die, picture, facts, odd, noisy, app_only]


def sample_definition(
    *,
    announcements: Announcements | None = None,
    spill: Callable[[str], Awaitable[str]] | None = None,
    max_result_chars: int = 1000,
    **more: Any,
) -> ServerDefinition:
    return ServerDefinition(
        name="test",
        title="Test server",
        version="1.2.3",
        toolset=FunctionToolset(None, TOOLS),
        resources=Resources(),
        announcements=announcements or Announcements(),
        instructions="Call echo.",
        extensions={"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}},
        spill=spill,
        max_result_chars=lambda: max_result_chars,
        **more,
    )
