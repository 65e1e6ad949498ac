"""A person takes a mistake back, looks at past moments and returns to one: the journey `time-travel`."""

import tempfile
from pathlib import Path

from film import Film, Person, Scene, View

from journeys.shopping import FILES
from ui_mcp.app.commands.demo import demo_server

APP = Path("project/.claude/ui/apps/shopping")


async def play(film: Film) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, _, text in FILES:
            file = Path(folder) / APP / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        async with demo_server(Path(folder), tour=False) as (_, (running, _mcp)):
            await film.page.goto(f"{running.url}/app/shopping")
            await film.page.get_by_role("button", name="Milk").wait_for()
            async with film.rolling() as person:
                await _take_back(film, person)
                await _travel(film, person)


async def _take_back(film: Film, person: Person) -> None:
    page = film.page
    for name in ("Milk", "Bread", "Tea"):
        await person.click(page.get_by_role("button", name=name))
        await page.locator(".item b").get_by_text(name.lower()).wait_for()
    await person.click(page.get_by_role("button", name="Delete").first)
    await person.rest()
    await person.look(1)
    await page.keyboard.press("Control+z")
    await page.get_by_text("Undone: Delete milk").wait_for()
    await person.look(1.5)


async def _travel(film: Film, person: Person) -> None:
    page = film.page
    await person.click(page.get_by_role("button", name="History", exact=True))
    slider = page.get_by_role("slider", name="Moment to look at")
    await person.point(slider)
    for _ in range(4):
        await slider.press("ArrowLeft")
        await person.look(0.9)
    film.mark_still()
    await slider.press("ArrowRight")
    await person.look(1)
    await person.click(page.get_by_role("button", name="Return here"))
    await person.look(1)
    await person.click(page.get_by_role("button", name="Close the history"))
    await person.rest()
    await person.look(1)


SCENE = Scene("journeys/images/time-travel", play, (View("light", 900, 560), View("dark", 900, 560, "dark")))
