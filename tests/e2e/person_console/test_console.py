"""All apps, imports, settings, Lua console, steps and introduction, operated in a real browser."""

import shutil
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from e2e.approvals_page.conftest import Scheme
from e2e.person_console.conftest import accessible, opened
from ui.console.archives import APP, zipped
from ui_mcp.jsontypes import loads
from ui_mcp.ui.states import Running

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]
CODE = "Notes = session:prototype('Notes', {})\nnotes = notes or session:create(Notes)\nlocal f = io.popen('curl x')\n"


@pytest.mark.covers("UI-SHELL-2")
async def test_an_app_shows_its_tests_issues_and_findings_and_itself(browser: Browser, server: Running) -> None:
    (server.workspace.apps / "week-plan" / "viewdefs" / "X.DEFAULT.html").write_text(
        '<template><b ui-value="a+b"></b></template>'
    )
    page = await opened(browser, server, "/apps")
    await page.get_by_role("button", name="Week plan").click()
    detail = page.get_by_role("article", name="Week plan")

    await expect(detail.get_by_text("Tests · 1 of 2 passed")).to_be_visible()
    await expect(detail.get_by_text("Long names overflow")).to_be_visible()
    await expect(detail.get_by_text("operator in path")).to_be_visible()
    await detail.get_by_role("button", name="Show").click()
    await expect(page.frame_locator("iframe").get_by_role("heading", name="Week plan")).to_be_visible()
    await page.get_by_role("button", name="Close").click()
    await expect(page.locator("iframe")).to_be_hidden()


@pytest.mark.covers("UI-SHELL-2")
async def test_a_described_app_is_created_and_the_agent_is_asked(browser: Browser, server: Running) -> None:
    page = await opened(browser, server, "/apps")
    await page.get_by_role("button", name="New app").click()
    await page.keyboard.type("Trip Plan")
    await page.get_by_role("button", name="Create").click()
    await expect(page.get_by_role("alert").filter(has_text="Say in a sentence")).to_be_visible()
    await page.get_by_label("What should it do?").fill("Where to go and when.")
    await page.get_by_role("button", name="Create").click()

    await expect(page.get_by_role("article", name="Trip plan")).to_be_visible()
    await expect(page.get_by_role("button", name="Show", exact=True)).to_be_disabled()
    events = [loads(text) for text in server.sessions.get("1").events.drain()]
    assert [(one["event"], one["target"]) for one in events] == [("app_request", "trip-plan")]


@pytest.mark.covers("UI-SHELL-2")
async def test_a_deleted_app_is_brought_back_by_the_keyboard(browser: Browser, server: Running) -> None:
    page = await opened(browser, server, "/apps")
    await page.get_by_role("button", name="Week plan").click()
    await page.get_by_role("button", name="Delete…").click()
    await expect(page.get_by_role("button", name="Keep it")).to_be_focused()
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name="Undo")).to_be_focused()
    gone = (server.workspace.apps / "week-plan").exists()
    await page.keyboard.press("Enter")

    await expect(page.get_by_role("article", name="Week plan")).to_be_visible()
    assert (gone, (server.workspace.apps / "week-plan" / "app.lua").exists()) == (False, True)


@pytest.mark.covers("UI-SHELL-3", "UI-SHELL-4")
async def test_an_archive_is_reviewed_before_it_is_installed(browser: Browser, server: Running, tmp_path: Path) -> None:
    archive, hostile = tmp_path / "notes.zip", tmp_path / "hostile.zip"
    archive.write_bytes(zipped({**APP, "notes/app.lua": CODE}))
    hostile.write_bytes(zipped({"../../up.lua": "x"}))
    page = await opened(browser, server, "/apps")
    await page.get_by_role("button", name="Import…").click()
    await page.get_by_label("Archive").set_input_files(hostile)
    await expect(page.get_by_role("alert").filter(has_text="not allowed")).to_be_visible()
    await page.get_by_label("Archive").set_input_files(archive)
    await expect(page.get_by_text("1 thing to look at before you install it.")).to_be_visible()
    await page.get_by_text("1 place").first.click()
    await page.get_by_role("button", name="app.lua:3").click()
    await expect(page.locator(".apps-line.apps-wanted")).to_contain_text("io.popen('curl x')")
    install = page.get_by_role("button", name="Install")
    await expect(install).to_be_disabled()
    await accessible(page)
    assert not (server.workspace.apps / "notes").exists()

    await page.get_by_label("I have read what it may do.").check()
    await install.click()
    await expect(page.get_by_role("article", name="Notes")).to_be_visible()
    await expect(page.get_by_text("notes.zip")).to_be_visible()


@pytest.mark.covers("UI-SHELL-3")
async def test_an_import_that_is_thrown_away_or_cannot_be_fetched_installs_nothing(
    browser: Browser, server: Running, tmp_path: Path
) -> None:
    archive = tmp_path / "notes.zip"
    archive.write_bytes(zipped(APP))
    page = await opened(browser, server, "/apps")
    await page.get_by_role("button", name="Import…").click()
    await page.get_by_label("Address of the repository").fill("https://nowhere.invalid/a/b")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("alert").filter(has_text="cannot be reached")).to_be_visible()
    await page.get_by_label("Archive").set_input_files(archive)
    await expect(page.get_by_text("Nothing unusual was found.")).to_be_visible()
    await page.reload()
    await page.get_by_role("button", name="Waiting for your review: notes.zip").click()
    await page.get_by_role("button", name="Throw away").click()

    await expect(page.get_by_text("Discarded; nothing of it is left.")).to_be_visible()
    assert sorted(path.name for path in server.workspace.apps.iterdir()) == ["shopping", "week-plan"]


@pytest.mark.covers("UI-SHELL-5")
async def test_a_theme_is_used_at_once_and_kept_on_the_server(browser: Browser, server: Running) -> None:
    page = await opened(browser, server, "/settings")
    await page.get_by_role("radio", name="Dusk").check()
    await expect(page.locator("html")).to_have_class("theme-dusk sl-theme-dark")
    other = await opened(browser, server, "/settings")

    await expect(other.locator("html")).to_have_class("theme-dusk sl-theme-dark")
    await expect(other.get_by_role("radio", name="Dusk")).to_be_checked()


@pytest.mark.covers("UI-SHELL-5")
async def test_a_wider_right_is_asked_about_and_written_to_the_file(browser: Browser, server: Running) -> None:
    page = await opened(browser, server, "/settings")
    await page.get_by_role("switch", name="Exec", exact=True).click()
    await page.get_by_role("button", name="Leave it").click()
    await expect(page.get_by_role("switch", name="Exec", exact=True)).not_to_be_checked()
    left = server.workspace.config_file.exists()
    await page.get_by_role("switch", name="Exec", exact=True).click()
    await accessible(page)
    await page.get_by_role("button", name="Save and agree").click()

    await expect(page.get_by_role("heading", name="You agreed to wider rights")).to_be_visible()
    assert (left, server.workspace.config_file.read_text()) == (False, "[lua.permissions]\nexec = true\n")


@pytest.mark.covers("UI-SHELL-5")
async def test_what_a_project_asks_for_is_shown_and_agreed_to(browser: Browser, server: Running) -> None:
    server.workspace.config_file.write_text('[lua.permissions]\nwrite = ["{project}"]\n')
    page = await opened(browser, server, "/settings")
    asked = page.get_by_role("region", name="Your agreement")
    await expect(asked).to_contain_text('lua.permissions.write = ["{project}"]')
    await asked.get_by_role("button", name="Agree").click()

    await expect(asked.get_by_role("heading", name="You agreed to wider rights")).to_be_visible()


@pytest.mark.covers("UI-SHELL-6")
async def test_the_console_runs_lua_and_brings_back_what_was_run(browser: Browser, server: Running) -> None:
    page = await opened(browser, server, "/console")
    line = page.get_by_label("Lua", exact=True)
    for code in ("kept = 40", "print('seen') return kept + 2", "nope.x"):
        await line.fill(code)
        await line.press("Enter")
    await expect(page.locator(".lua-value")).to_have_text("42")
    await expect(page.locator(".lua-printed")).to_have_text("seen")
    await expect(page.locator(".lua-error")).to_contain_text("'nope'")
    await line.press("ArrowUp")
    await line.press("ArrowUp")

    await expect(line).to_have_value("print('seen') return kept + 2")
    await accessible(page)


@pytest.mark.covers("UI-SHELL-6")
async def test_the_steps_of_the_agent_stand_above_the_chat_and_in_the_list(browser: Browser, server: Running) -> None:
    page = await opened(browser, server, "/apps")
    await expect(page.get_by_role("button", name="Shopping")).to_be_visible()
    await server.sessions.get("1").run_lua("mcp:createTodos({'Design', 'Write code'}, 'shopping') mcp:startTodoStep(2)")

    steps = page.get_by_role("region", name="What the agent is doing")
    await expect(steps.get_by_role("status")).to_have_text("Write code… · 1 of 2")
    await expect(page.get_by_role("button", name="Shopping")).to_contain_text("40 %")
    await server.sessions.get("1").run_lua("mcp:clearTodos() mcp:appProgress('shopping')")
    await expect(steps).to_be_hidden()


@pytest.mark.covers("UI-SHELL-7")
async def test_the_introduction_is_taken_once_by_the_keyboard(browser: Browser, server: Running) -> None:
    page = await opened(browser, server)
    await page.get_by_role("button", name="Show me around").click()
    titles = []
    for _ in range(7):
        titles.append(await page.locator(".intro-card h2").inner_text())
        await accessible(page)
        await page.keyboard.press("Enter")
    await expect(page.locator(".intro")).to_have_count(0)
    await page.reload()
    await expect(page.get_by_role("button", name="Sign out", exact=True)).to_be_visible()
    again = await page.get_by_role("button", name="Show me around").count()
    await page.get_by_role("button", name="Settings").click()
    await page.get_by_role("button", name="Show it again").click()
    await expect(page.get_by_role("heading", name="Welcome")).to_be_visible()
    await page.keyboard.press("Escape")

    assert titles == ["Welcome", "Your agent\u2019s apps", "Chat", "Inbox", "Console", "All apps", "Settings"]
    assert again == 0


@pytest.mark.covers("UI-SHELL-2", "UI-SHELL-5", "UI-SHELL-6")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
async def test_every_view_is_accessible_and_fits(browser: Browser, server: Running, width: int, scheme: Scheme) -> None:
    page = await opened(browser, server, "/apps", width, scheme)
    await page.get_by_role("button", name="Week plan").click()
    await expect(page.get_by_role("article", name="Week plan")).to_be_visible()
    await _looked_at(page, width)
    for path, seen in (("/apps", "All apps"), ("/settings", "Appearance")):
        await page.goto(server.person_url + path)
        await expect(page.get_by_role("heading", name=seen)).to_be_visible()
        await _looked_at(page, width)
    await page.goto(server.person_url + "/console")
    await expect(page.get_by_label("Lua", exact=True)).to_be_visible()
    await _looked_at(page, width)


async def _looked_at(page: Page, width: int) -> None:
    await accessible(page)
    assert await page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.covers("UI-SHELL-2")
async def test_without_apps_the_page_says_what_to_do(browser: Browser, server: Running) -> None:
    for name in ("week-plan", "shopping"):
        shutil.rmtree(server.workspace.apps / name)
    for width in (1280, 390):
        page = await opened(browser, server, "/apps", width)
        await expect(page.get_by_text("No apps yet")).to_be_visible()
        await accessible(page)


@pytest.mark.covers("UI-SHELL-6")
async def test_the_app_in_the_frame_cannot_call_the_console(browser: Browser, server: Running) -> None:
    page = await opened(browser, server)
    frame = page.frames[-1]
    tried = await frame.evaluate(
        """(url) => fetch(url + "/console", { method: "POST", body: "{}" })
            .then((answer) => answer.status, () => "blocked")""",
        server.person_url,
    )

    assert tried == "blocked"
