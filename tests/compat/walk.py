"""Operates a project with a shell and apps of ui-engine or frictionless in Chromium: `make compat DIR=…`.

The folder is copied first, and only the copy is used. It is a project with `.ui/` or `.claude/ui/`, or a folder with
`apps/` (and perhaps `lua/`, `viewdefs/`, `html/`), which becomes the base directory of a new project. Every app is
displayed, operated, edited while it runs, and displayed again after a restart; what it saved must still be there. Its
state is compared at each step: operating changes it, an edit keeps it, and after a restart every value is
the one that was saved or the one of the beginning.
"""

import json
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, ConsoleMessage, Locator, Page
from playwright.sync_api import Error as PlaywrightError

from chromium import launched
from e2e.web_live.conftest import Server

BASES = (".ui", ".claude/ui")
MARK = "edited while it runs"
MAX_CLICKS = 12
DELETES = re.compile(r"delete|remove|\u00d7", re.IGNORECASE)
SECONDS = 20_000
DAY = 86_400
FIELDS = """
local found, seen = {}, {}
local function visit(value, path, depth)
    if type(value) ~= "table" then
        local plain = type(value) ~= "function" and type(value) ~= "userdata"
        if plain then found[#found + 1] = path .. "=" .. tostring(value) end
        return
    end
    if seen[value] or depth > 6 or #found > 3000 then return end
    seen[value] = true
    local keys = {}
    for key in pairs(value) do
        if type(key) ~= "table" then keys[#keys + 1] = key end
    end
    table.sort(keys, function(one, other) return tostring(one) < tostring(other) end)
    for _, key in ipairs(keys) do visit(value[key], path .. "/" .. tostring(key), depth + 1) end
end
visit(mcp.value, "", 0)
return found
"""
Leaves = dict[str, str]
"""The values of a state by their paths."""


@dataclass
class Outcome:
    """What happened with one app."""

    app: str
    shown: bool = False
    text: int = 0
    clicks: int = 0
    edited: bool = False
    states: dict[str, Leaves] = field(default_factory=dict)
    """The state when it was first shown, after operating, after the edit, and after the restart."""
    volatile: set[str] = field(default_factory=set)
    """Values that change by themselves, such as the time."""
    restarted: bool = False
    kept: bool = True
    saved: set[str] = field(default_factory=set)
    errors: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    @property
    def works(self) -> bool:
        steps = self.shown and self.edited and self.restarted and self.kept
        return steps and not self.lost() and not self.strange() and not self.errors

    def changed(self) -> set[str]:
        """Return the values that operating changed."""
        return self._differing("shown", "operated")

    def lost(self) -> set[str]:
        """Return the values that an edit of a viewdef changed."""
        return self._differing("operated", "edited")

    def back(self) -> set[str]:
        """Return the values that operating changed and that are the same after the restart."""
        return self.changed() - self._differing("edited", "restarted")

    def strange(self) -> set[str]:
        """Return the values after the restart that are neither as before it nor as in the beginning."""
        neither = self._differing("shown", "restarted") & self._differing("edited", "restarted")
        return neither & self.states.get("restarted", {}).keys()

    def _differing(self, one: str, other: str) -> set[str]:
        before, after = self.states.get(one, {}), self.states.get(other, {})
        return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)} - self.volatile

    def row(self) -> str:
        marks = ["yes" if one else "NO" for one in (self.shown, self.edited, self.restarted, self.kept)]
        asked = ", ".join(sorted(set(self.refused))) or "-"
        compared = f"{len(self.changed())} changed, {len(self.lost())} lost by the edit, {len(self.back())} back"
        problems = [*self.errors, *(f"after the restart: {path}" for path in sorted(self.strange())[:5])]
        cells = [self.app, marks[0], str(self.clicks), *marks[1:], compared, asked, "; ".join(problems) or "-"]
        return f"| {' | '.join(cells)} |"


COLUMNS = ("app", "shown", "clicks", "hot edit", "after restart", "data kept", "state", "asked for", "errors")
HEAD = f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|"


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
        """Return the apps that can be displayed; a shell is shown around all of them."""
        apps = {file.parent.name for file in self.app.glob("*/app.lua")}
        files = [file for file in (self.base / "lua").glob("*.lua") if not file.is_symlink()]
        roots = {file.stem for file in files if "createAppVariable" in file.read_text()}
        return sorted((apps | roots) - {"mcp", "main"})

    def stored(self) -> dict[str, int]:
        """Return the files that apps saved, with their sizes."""
        files = [file for file in (self.base / "storage").rglob("*") if file.is_file()]
        sizes = {file.relative_to(self.base).as_posix(): file.stat().st_size for file in files}
        return {name: size for name, size in sizes.items() if not name.startswith("storage/tmp/")}

    def state(self) -> Leaves:
        """Return every value of the displayed object, those with an underscore too, which `ui://state` leaves out."""
        found = self.call("ui_run", code=FIELDS)
        pairs = found if isinstance(found, list) else []
        parts = (str(pair).partition("=") for pair in pairs)
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
    page.wait_for_function("document.querySelector('[ui-app]')?.innerText.trim().length > 0", timeout=SECONDS)
    yield page
    context.close()


def operate(page: Page, outcome: Outcome) -> None:
    """Close notices, leave a tour and questions, type into fields, and click buttons except those that delete."""
    for notice in page.locator(".ui-notice button").all():
        click(notice)  # it may cover the button that ends the tour
    for text in ("Skip tutorial", "No"):
        first = page.get_by_text(text, exact=True).first
        if first.is_visible():
            click(first)
    for control in page.locator("[ui-viewdef] :is(sl-input, input, textarea):visible").all()[:4]:
        if click(control):
            page.keyboard.type("walk")
    buttons = page.locator("[ui-viewdef] :is(sl-button, button, sl-icon-button, [ui-action]):visible")
    for number in range(MAX_CLICKS):
        if number < buttons.count() and not deletes(buttons.nth(number)):
            outcome.clicks += click(buttons.nth(number))
    page.keyboard.press("Escape")


def deletes(element: Locator) -> bool:
    """Return whether a button says that it deletes something; one that is gone meanwhile is left alone as well."""
    try:
        return DELETES.search(element.text_content(timeout=1_500) or "") is not None
    except PlaywrightError:
        return True


def click(element: Locator) -> bool:
    """Click and return whether that was possible: what is covered or gone, a person does not click either."""
    try:
        element.click(timeout=1_500)
    except PlaywrightError:
        return False
    return True


def edit(server: Project, page: Page, outcome: Outcome) -> None:
    """Add a mark to the app's viewdef while it is shown."""
    key = page.locator("[ui-viewdef]:not([ui-viewdef^=MCP], [ui-viewdef^=lua])").first.get_attribute("ui-viewdef")
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
    answer = server.call("ui_display", name=outcome.app)
    outcome.shown = isinstance(answer, str) and answer.startswith("Displayed app")
    if not outcome.shown:
        outcome.errors.append(str(answer)[:160])
        return
    with opened(browser, server, outcome) as page:
        outcome.text = len(page.inner_text("[ui-app]"))
        outcome.states["shown"] = server.state()
        operate(page, outcome)
        server.call("ui_display", name=outcome.app)
        first, outcome.states["operated"] = server.state(), server.state()
        outcome.volatile = {path for path, value in first.items() if outcome.states["operated"].get(path) != value}
        edit(server, page, outcome)
        outcome.states["edited"] = server.state()
    events = server.events()
    outcome.refused += [str(event["setting"]) for event in events if event.get("event") == "permission_denied"]
    outcome.errors += [str(event["message"])[:120] for event in events if event.get("event") == "load_error"]


def again(server: Project, browser: Browser, outcomes: list[Outcome]) -> None:
    """Restart the server; every app must come up again, with what it saved."""
    before = server.stored()
    server.stop()
    server.start()
    missing = [name for name in before if name not in server.stored()]
    for outcome in outcomes:
        answer = server.call("ui_display", name=outcome.app)
        outcome.restarted = isinstance(answer, str) and answer.startswith("Displayed app")
        outcome.kept, outcome.saved = not missing, set(before)
        if outcome.restarted:
            with opened(browser, server, outcome):
                outcome.states["restarted"] = server.state()


def walk(source: Path) -> list[Outcome]:
    """Walk through a folder and return what happened with each app."""
    with tempfile.TemporaryDirectory(prefix="ui-mcp-compat-") as folder, launched() as browser:
        server = Project(source, Path(folder) / "project")
        server.start()
        try:
            outcomes = [Outcome(app) for app in server.apps()]
            for outcome in outcomes:
                try:
                    visit(server, browser, outcome)
                except Exception as error:
                    outcome.errors.append(f"{type(error).__name__}: {error}"[:160].replace("\n", " "))
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
