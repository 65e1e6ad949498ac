"""Operates a project with a shell and apps of ui-engine or frictionless in Chromium: `make compat DIR=…`.

The folder is copied first, and only the copy is used. It is a project with `.ui/` or `.claude/ui/`, or a folder with
`apps/` (and perhaps `lua/`, `viewdefs/`, `html/`), which becomes the base directory of a new project. Every app is
displayed, operated and edited while it runs, and displayed again after the server was killed and after it was ended
and started; what it saved must still be there. Its state is compared at each step: operating must change something,
an edit and a kill change nothing, and after an orderly restart every value is the one that was saved or the one of
the beginning. A shell of the project's own is an app too: the object `mcp` without what it displays.
"""

import json
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, ConsoleMessage, Locator, Page
from playwright.sync_api import Error as PlaywrightError

from chromium import launched
from compat.outcome import HEAD, Leaves, Outcome, differing
from e2e.web_live.conftest import Server

BASES = (".ui", ".claude/ui")
SHELL = "mcp"
MARK = "edited while it runs"
MAX_CLICKS = 16
DELETES = re.compile(r"delete|remove|\u00d7", re.IGNORECASE)
CONFIRMS = re.compile(r"save|submit|create|done|add|ok\b", re.IGNORECASE)
NAME = """e => ["ui-action", "ui-event-click", "ui-event-sl-change", "ui-value", "placeholder", "label", "name"]
    .map((name) => e.getAttribute(name) ?? "").join(" ") + " " + (e.textContent ?? "").trim().slice(0, 60)"""
APP_VIEW = "[ui-viewdef]:not([ui-viewdef^=MCP], [ui-viewdef^=lua])"
FIELDS_SHOWN = (
    ":is(sl-input, sl-textarea, input:not([part], [aria-hidden], [type=checkbox]), textarea:not([part])):visible"
)
TAGS = "sl-button, sl-icon-button, sl-checkbox, sl-switch, button:not([part]), [ui-action], [ui-event-click]"
CONTROLS = f":is({TAGS}):visible"
SECONDS = 60_000
DAY = 86_400
FIELDS = """
local found, seen = {}, {}
local function visit(value, path, depth)
    if type(value) ~= "table" then
        local plain = type(value) ~= "function" and type(value) ~= "userdata"
        local text = tostring(value)
        if #text > 200 then text = text:sub(1, 200) .. "… " .. #text .. " bytes" end
        if plain then found[#found + 1] = path .. "=" .. text end
        return
    end
    if seen[value] then found[#found + 1] = path .. "=the same as " .. seen[value] return end
    if depth > 6 or #found > 3000 then return end
    seen[value] = path
    local keys = {}
    for key in pairs(value) do
        if type(key) ~= "table" and not (value == mcp and key == "value") then keys[#keys + 1] = key end
    end
    table.sort(keys, function(one, other) return tostring(one) < tostring(other) end)
    for _, key in ipairs(keys) do visit(value[key], path .. "/" .. tostring(key), depth + 1) end
end
visit(ROOT, "", 0)
return { table.unpack(found, FIRST, FIRST + COUNT - 1) }
"""
MOST = 100
"""Values of a state that one call returns: a longer answer would go to a file."""


class Project(Server):
    """A server on a copy of the folder."""

    def __init__(self, source: Path, folder: Path) -> None:
        self.folder = folder
        self.url, self.mcp = "", ""
        self._process = None
        base = next((name for name in BASES if (source / name).is_dir()), None)
        if base is None:
            self.base = folder / ".ui"
            shutil.copytree(source, self.base, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        else:
            shutil.copytree(source, folder, symlinks=True, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".git"))
            self.base = folder / base
        self.app = self.base / "apps"

    def apps(self) -> list[str]:
        """Return the apps that can be displayed; the shell, which also opens the others, comes first."""
        apps = {file.parent.name for file in self.app.glob("*/app.lua")}
        files = [file for file in (self.base / "lua").glob("*.lua") if not file.is_symlink()]
        roots = {file.stem for file in files if "createAppVariable" in file.read_text()}
        shell = [SHELL] if SHELL in apps | {file.stem for file in files} else []
        return [*shell, *sorted((apps | roots) - {SHELL, "main"})]

    def stored(self) -> dict[str, int]:
        """Return the files that apps saved, with their sizes."""
        files = [file for file in (self.base / "storage").rglob("*") if file.is_file()]
        sizes = {file.relative_to(self.base).as_posix(): file.stat().st_size for file in files}
        return {name: size for name, size in sizes.items() if not name.startswith("storage/tmp/")}

    def display(self, app: str) -> str:
        """Display an app, or for the shell any other one, since alone it may show nothing; return the answer."""
        others = [name for name in self.apps() if name != SHELL]
        return str(self.call("ui_display", name=others[0] if app == SHELL else app))

    def state(self, app: str) -> Leaves:
        """Return every value of the displayed object, those with an underscore too, which `ui://state` leaves out."""
        code = FIELDS.replace("ROOT", "mcp" if app == SHELL else "mcp.value").replace("COUNT", str(MOST))
        pairs: list[str] = []
        while len(pairs) % MOST == 0:
            found = self.call("ui_run", code=code.replace("FIRST", str(len(pairs) + 1)))
            if not found:
                break
            pairs += found
        secret = str(self.call("ui_run", code="return mcp.sessionId"))  # every start has another one
        parts = (pair.replace(secret, "SESSION").partition("=") for pair in pairs)
        return {path: value for path, _, value in parts if not is_clock(value)}

    def events(self) -> list[dict[str, object]]:
        """Return what was reported to the agent."""
        found = self.call("ui_run", code="return 1")
        assert found == 1, found
        text = self.request("resources/read", {"uri": "ui://events"})["contents"][0]["text"]
        return [one for one in json.loads(text) if isinstance(one, dict)]


def is_clock(value: str) -> bool:
    """Return whether a value is the time of this day, which an app takes whenever it looks at something."""
    return re.fullmatch(r"\d{10}", value) is not None and abs(int(value) - time.time()) < DAY


@contextmanager
def opened(browser: Browser, server: Project, outcome: Outcome) -> Iterator[Page]:
    """Open the page; errors of scripts and failed bindings become errors of the app."""
    context = browser.new_context()
    page = context.new_page()

    def console(message: ConsoleMessage) -> None:
        if message.type == "error" and "Failed to load resource" not in message.text:
            outcome.errors.append(message.text[:120])

    page.on("console", console)
    page.on("pageerror", lambda error: outcome.errors.append(str(error)[:120]))
    page.route(lambda url: not url.startswith(("http://127.0.0.1", "http://localhost", "data:")), lambda r: r.abort())
    page.on("dialog", lambda dialog: dialog.dismiss())
    page.goto(server.url)
    until_shown(page)
    yield page
    context.close()


def until_shown(page: Page) -> None:
    page.wait_for_function("document.querySelector('[ui-app]')?.innerText.trim().length > 0", timeout=SECONDS)


def operate(server: Project, page: Page, outcome: Outcome) -> None:
    """Close notices, leave a tour and questions, type into fields, and click buttons except those that delete."""
    for notice in page.locator(".ui-notice button").all():
        click(notice)  # it may cover the button that ends the tour
    leave_questions(page)
    place = "[ui-viewdef^=MCP]" if outcome.app == SHELL else APP_VIEW
    shown = view_key(page, place)
    typed: set[str] = set()
    clicked: set[str] = set()
    for _ in range(MAX_CLICKS):
        fresh = fill(page, place, typed)
        control = next_control(page, place, clicked, confirming=fresh)
        if control is None:
            break
        done = click(control)
        if not done:
            page.keyboard.press("Escape")  # something that was opened may cover it
        outcome.clicks += done or click(control)
        leave_questions(page)
        if view_key(page, place) != shown:  # a menu or a tour has gone to another app
            server.display(outcome.app)
            page.locator(f'[ui-viewdef="{shown}"]').first.wait_for(state="attached", timeout=SECONDS)
        outcome.touched |= differing(outcome.states["shown"], server.state(outcome.app))
    page.keyboard.press("Escape")


def view_key(page: Page, place: str) -> str:
    """Return the viewdef of the first element of `place`."""
    return page.locator(place).first.get_attribute("ui-viewdef", timeout=SECONDS) or ""


def fill(page: Page, place: str, typed: set[str]) -> bool:
    """Type into the fields that were not there before; return whether there were any."""
    before = len(typed)
    for field_shown in page.locator(f"{place} {FIELDS_SHOWN}").all()[:6]:
        name = named(field_shown)
        if name not in typed and click(field_shown):
            page.keyboard.type("walk")
            typed.add(name)
    return len(typed) > before


def next_control(page: Page, place: str, clicked: set[str], *, confirming: bool) -> Locator | None:
    """Return a control that was not clicked yet: after typing one that confirms a form, else the first."""
    found = [(named(one), one) for one in page.locator(f"{place} {CONTROLS}").all()]
    fresh = [(name, one) for name, one in found if name and name not in clicked and not DELETES.search(name)]
    if confirming:
        fresh.sort(key=lambda one: CONFIRMS.search(one[0]) is None)
    if not fresh:
        return None
    clicked.add(fresh[0][0])
    return fresh[0][1]


def named(element: Locator) -> str:
    """Return what an element says and does; nothing if it is gone meanwhile."""
    try:
        return str(element.evaluate(NAME, timeout=1_500))
    except PlaywrightError:
        return ""


def leave_questions(page: Page) -> None:
    """End a tour, answer a question with no and close messages of a shell: they cover what is below."""
    page.evaluate("for (const alert of document.querySelectorAll('sl-alert[open]')) alert.hide?.()")
    for text in ("Skip tutorial", "No"):
        first = page.get_by_text(text, exact=True).first
        if first.is_visible():
            click(first)


def click(element: Locator) -> bool:
    """Click and return whether that was possible: what is covered or gone, a person does not click either."""
    try:
        element.click(timeout=1_500)
    except PlaywrightError:
        return False
    return True


def edit(server: Project, page: Page, outcome: Outcome) -> None:
    """Add a mark to the app's viewdef while it is shown."""
    key = view_key(page, "[ui-viewdef^=MCP]" if outcome.app == SHELL else APP_VIEW)
    files = [*server.app.glob(f"{outcome.app}/viewdefs/{key}.html"), *server.base.glob(f"viewdefs/{key}.html")]
    if not files:
        return
    file = files[0]
    before = file.read_text()
    head, tag, rest = before.rpartition("</div>")
    file.write_text(f"{head}<b id='walk-mark'>{MARK}</b>{tag}{rest}")
    page.wait_for_selector("#walk-mark", state="attached", timeout=SECONDS)
    file.write_text(before)
    page.wait_for_selector("#walk-mark", state="detached", timeout=SECONDS)
    outcome.edited = True


def visit(server: Project, browser: Browser, outcome: Outcome) -> None:
    """Display one app, operate it and edit it."""
    answer = server.display(outcome.app)
    outcome.shown = answer.startswith("Displayed app")
    if not outcome.shown:
        outcome.errors.append(answer[:160])
        return
    with opened(browser, server, outcome) as page:
        outcome.text = len(page.inner_text("[ui-app]"))
        outcome.states["shown"] = server.state(outcome.app)
        operate(server, page, outcome)
        server.display(outcome.app)
        first, outcome.states["operated"] = server.state(outcome.app), server.state(outcome.app)
        outcome.volatile |= differing(first, outcome.states["operated"])
        edit(server, page, outcome)
        outcome.states["edited"] = server.state(outcome.app)
    events = server.events()
    outcome.refused += [str(event["setting"]) for event in events if event.get("event") == "permission_denied"]
    outcome.errors += [str(event["message"])[:120] for event in events if event.get("event") == "load_error"]


def again(server: Project, browser: Browser, outcomes: list[Outcome]) -> None:
    """Look at all apps once more, kill the server, and end it; each time all must come up, with what they saved."""
    shown_again(server, browser, outcomes, "left")
    before = server.stored()
    server.kill()
    server.start()
    shown_again(server, browser, outcomes, "killed")
    server.stop()
    server.start()
    missing = [name for name in before if name not in server.stored()]
    shown_again(server, browser, outcomes, "restarted")
    for outcome in outcomes:
        outcome.restarted = {"killed", "restarted"} <= outcome.states.keys()
        outcome.kept, outcome.saved = not missing, set(before)


def shown_again(server: Project, browser: Browser, outcomes: list[Outcome], step: str) -> None:
    """Display every app once more and note its state."""
    for outcome in outcomes:
        with noted(outcome):
            answer = server.display(outcome.app)
            if not answer.startswith("Displayed app"):
                raise AssertionError(answer)
            with opened(browser, server, outcome) as page:
                outcome.states[step] = server.state(outcome.app)
                page.reload()
                until_shown(page)
                outcome.volatile |= differing(outcome.states[step], server.state(outcome.app))


@contextmanager
def noted(outcome: Outcome) -> Iterator[None]:
    """Make an exception an error of the app, so that the others are still walked through."""
    try:
        yield
    except Exception as error:
        outcome.errors.append(f"{type(error).__name__}: {error}"[:160].replace("\n", " "))


def walk(source: Path) -> list[Outcome]:
    """Walk through a folder and return what happened with each app."""
    with tempfile.TemporaryDirectory(prefix="ui-mcp-compat-") as folder, launched() as browser:
        server = Project(source, Path(folder) / "project")
        server.start()
        try:
            outcomes = [Outcome(app) for app in server.apps()]
            for outcome in outcomes:
                with noted(outcome):
                    visit(server, browser, outcome)
            again(server, browser, outcomes)
        finally:
            server.stop()
        return outcomes


def main() -> int:
    outcomes = walk(Path(sys.argv[1]).resolve())
    sys.stdout.write("\n".join([HEAD, *(outcome.row() for outcome in outcomes)]) + "\n")
    return 0 if outcomes and all(outcome.works for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
