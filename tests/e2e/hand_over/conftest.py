"""A site that asks for a code which only the person has, and an agent's browser that shows it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from e2e.approvals_page.conftest import browser
from ui_mcp.app.ui_server import open_host
from ui_mcp.introspection.backend import Attachment
from ui_mcp.introspection.targets import write
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.toolkit.tool import Call, Media, Text
from ui_mcp.ui.instance import ListenPorts
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.states import Running
from ui_mcp.ui.toolset import all_tools
from ui_mcp.webserver.server import bind, listening, port_of

__all__ = ["browser"]

CODE = "735-198"
FORM = """<!doctype html><title>Sign in</title><h1>Sign in</h1>
<form method=post><label>Code <input name=code id=code></label> <button>Continue</button></form>
<script>code.oninput = () => { console.log("typed " + code.value); fetch("/typed?" + code.value); };</script>"""
INSIDE = "<!doctype html><title>Inside</title><h1>Welcome</h1><p>3 invoices</p>"


async def sign_in(request: Request) -> Response:
    if request.method == "POST" and (await request.form()).get("code") == CODE:
        answer = RedirectResponse("/inside", 303)
        answer.set_cookie("session", "secret-cookie")
        return answer
    return HTMLResponse(FORM)


async def inside(request: Request) -> Response:
    return HTMLResponse(INSIDE if request.cookies.get("session") else "<h1>No</h1>")


@asynccontextmanager
async def login_site() -> AsyncIterator[str]:
    async def typed(request: Request) -> Response:
        return Response("")

    app = Starlette(
        routes=[Route("/", sign_in, methods=["GET", "POST"]), Route("/inside", inside), Route("/typed", typed)]
    )
    listener = bind("127.0.0.1", 0)
    async with listening(app, listener):
        yield f"http://127.0.0.1:{port_of(listener)}/"


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent whose browser is the target `url`."""

    host: UiServer
    running: Running

    async def call(self, tool: str, **arguments: object) -> str:
        """Call a tool on the browser and return its text, or the kind of other content."""
        given: JsonObject = {"target": "url", **arguments}
        result = await all_tools(self.host).call(tool, given, Call())
        return "\n".join(
            part.text if isinstance(part, Text) else part.kind
            for part in result.content
            if isinstance(part, Text | Media)
        )


@pytest.fixture
async def agent(tmp_path: Path) -> AsyncIterator[Agent]:
    flags: JsonObject = {
        "lua.host": "thread",
        "introspection.allow_cookies": True,
        "introspection.allow_evaluate": True,
    }
    async with login_site() as url, open_host(flags, ListenPorts(), Announcements()) as host:
        await host.begin(str(tmp_path / ".claude" / "ui"))
        running = await host.start()
        write(host.targets.folder, Attachment("url", "url", "", url=url))
        yield Agent(host, running)
