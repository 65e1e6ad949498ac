"""The tour, as a person sees it who has just typed `make run`."""

import tempfile
from pathlib import Path

from film import DARK, LIGHT, SLOW, Film, Person, Scene, View

from ui_mcp.app.commands.demo import demo_server
from ui_mcp.person import PersonKeys


async def play(film: Film) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with demo_server(Path(folder), tour=True, pace=SLOW) as (_, (running, _mcp)):
            await film.page.goto(f"{running.person_url}/#code={PersonKeys().new_code()}")
            await film.page.get_by_text("Hi! I am a scripted agent").and_(film.page.locator(".tour-feed *")).wait_for()
            async with film.rolling() as person:
                await _answer_all(film, person)


async def _answer_all(film: Film, person: Person) -> None:
    """Do what the tour asks the person to do."""
    page, app = film.page, film.page.frame_locator("iframe")
    await person.click(app.get_by_role("button", name="Euro"))
    await person.rest()
    await page.get_by_text("Your turn: point").wait_for()
    await person.click(page.get_by_role("button", name="Point"))
    await person.click(app.get_by_role("heading", name="Lisbon, five days"))
    await page.get_by_label("What should change here?").focus()
    await person.type("A week in Lisbon")
    await person.click(page.get_by_role("button", name="Send to agent"))
    await person.rest()
    await page.get_by_role("button", name="Send", exact=True).wait_for()
    film.mark_still()
    await person.click(page.get_by_label("By bike"))
    await person.click(page.get_by_role("button", name="Send", exact=True))
    await person.click(page.get_by_role("button", name="Approve once", exact=True))
    await person.rest()
    await page.get_by_role("heading", name="Now with your own agent").wait_for()
    await person.look(2)


SCENE = Scene("images/tour", play, (LIGHT, DARK, View("phone", 390, 760)))
