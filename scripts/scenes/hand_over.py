"""A login with a code that only the person has: the agent hands its browser over, and goes on behind it."""

import tempfile
from pathlib import Path

import anyio
from film import Film, Person, Scene

from journeys.shop_login import CODE, site
from ui_mcp.app.commands.demo import demo_server
from ui_mcp.app.tour.agent import Server
from ui_mcp.app.tour.tour import connection_to
from ui_mcp.introspection import targets
from ui_mcp.introspection.backend import AttachRequest
from ui_mcp.introspection.backends import backend_of
from ui_mcp.introspection.targets import target_folder
from ui_mcp.jsontypes import Json
from ui_mcp.person import PersonKeys
from ui_mcp.toolkit.tool import Call
from ui_mcp.workspace import Workspace

REASON = "Please sign in to the shop; I need the invoices"


async def play(film: Film) -> None:
    with tempfile.TemporaryDirectory() as folder, site() as shop:
        async with demo_server(Path(folder), tour=False) as (_, (running, mcp_url)):
            await attach(running.workspace, shop)
            await film.page.goto(f"{running.person_url}/#code={PersonKeys().new_code()}")
            await film.page.get_by_role("button", name="Not now").click()  # there is no need of an introduction
            async with connection_to(mcp_url)() as server:
                await call(server, "ui_get_snapshot", target="url")  # its browser is started now
                async with film.rolling() as person:
                    await _handed_over(film, person, server)


async def attach(workspace: Workspace, url: str) -> None:
    """Attach a page, as `ui-mcp attach --url` does."""
    folder = target_folder(workspace)
    targets.write(folder, await backend_of("url").attach(AttachRequest("url", folder, url=url)))


async def _handed_over(film: Film, person: Person, server: Server) -> None:
    page = film.page
    await call(
        server, "chat_assistant_post", content="The shop wants a code that only you have. I hand my browser over."
    )
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask, server)
        await person.click(page.get_by_role("button", name="Take over"))
        await page.get_by_text("Connecting…").wait_for(state="hidden")
        await person.look(1)
        await page.keyboard.press("Tab")
        await person.type(CODE)
        film.mark_still()
        await page.keyboard.press("Enter")
        await page.locator(".wheel-address", has_text="/invoices").wait_for()
        await person.look(1)
        await person.click(page.get_by_role("button", name="Give back to agent"))
    await person.rest()
    await call(server, "ui_get_snapshot", target="url")
    await call(
        server,
        "chat_assistant_post",
        content="Thank you. I see two invoices: **March 12.50** and **April 8.00**. Your code I never saw.",
    )
    await page.get_by_text("Your code I never saw").wait_for()
    await person.look(1)


async def ask(server: Server) -> None:
    """Wait until the person has given the browser back."""
    await call(server, "ui_browser", op="hand_over", text=REASON, target="url", options={"seconds": 50})


async def call(server: Server, name: str, **arguments: Json) -> None:
    await server.call(name, arguments, Call())


SCENE = Scene("journeys/images/hand-over", play)
