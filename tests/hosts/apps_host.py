"""Shows our app in hosts of MCP Apps that others wrote, and operates it there: `make apps-host`.

Without DIR the host is the newest MCP Inspector from npm. DIR is the folder `examples/basic-host` of
modelcontextprotocol/ext-apps, with its packages installed and built (`npm install && npm run build`). The host's page
connects to a server of ours over HTTP, calls ui_display, and must show the counter in its sandbox, count clicks, follow
its theme, and see what Lua changes. A picture is left in build/.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from playwright.sync_api import FrameLocator, Page, expect

from agreeing import agree
from chromium import launched
from e2e.web_live.conftest import Server
from hosts.pinned import node_folder, npm_install

ORIGIN = "http://localhost:8080"
"""Fixed by basic-host, as is 8081 for its sandbox."""
ROOT = Path(__file__).parents[2]
INSPECTOR = ROOT / ".clients" / "hosts" / "inspector"
SETTINGS = f'[server]\nallowed_origins = ["{ORIGIN}"]\n'
PICTURE = ROOT / "build" / "apps-host.png"
SECONDS = 60_000


def main(folder: Path | None) -> int:
    """Operate the counter in the host of `folder`, or in the Inspector; exceptions tell what is wrong."""
    with ExitStack() as held:
        place = Path(held.enter_context(tempfile.TemporaryDirectory()))
        os.environ["XDG_CONFIG_HOME"] = str(place / "account")  # where `agree` writes
        server = held.enter_context(serving(place))
        url = held.enter_context(hosting(folder, f"{server.mcp}/mcp") if folder else inspecting(place, server))
        browser = held.enter_context(launched())
        page = browser.new_page(color_scheme="light", viewport={"width": 1400, "height": 900})
        page.on("console", lambda message: print(f"  page: {message.text[:200]}") if message.type == "error" else None)
        app = shown(page) if folder else shown_by_inspector(page, url)
        checks: dict[str, Callable[[], None]] = {
            "the app is shown in the sandbox": lambda: expect(app.locator("#count")).to_have_text("0", timeout=SECONDS),
            "a click counts": lambda: clicked(app),
            "Lua changes what is shown": lambda: changed(server, app),
            "the app follows the theme of the host": lambda: themed(page, app),
        }
        if folder:
            checks |= {
                "the frame has the height of the app": lambda: sized(page),
                "another tool shows it again": lambda: shown_by_start(page),
            }
        for name, check in checks.items():
            check()
            print(f"ok  {name}", flush=True)
        PICTURE.parent.mkdir(exist_ok=True)
        page.screenshot(path=PICTURE, full_page=True)
        print(f"picture: {PICTURE}")
    return 0


@contextmanager
def serving(place: Path) -> Iterator[Server]:
    """Run a server of ours with the counter, which accepts the host's page."""
    server = Server(place)
    config = server.base / "config" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(SETTINGS)
    agree(server.base)
    server.start()
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def inspecting(place: Path, server: Server) -> Iterator[str]:
    """Run the Inspector, with our server as its only one; yield the address of its page."""
    npm_install(INSPECTOR, "inspector", "latest")
    node = node_folder()
    environment = {**os.environ, "HOME": str(place), "MCP_AUTO_OPEN_ENABLED": "false", "CLIENT_PORT": "46274"}
    command = [str(node / "node"), str(INSPECTOR / "node_modules/.bin/mcp-inspector"), "--web", "--transport", "http"]
    process = subprocess.Popen(
        [*command, "--server-url", f"{server.mcp}/mcp"], cwd=place,
        env={**environment, "PATH": f"{node}{os.pathsep}{os.environ['PATH']}"},
        stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        [url] = re.findall(r"http://\S+TOKEN=\w+", next(line for line in process.stdout if "TOKEN=" in line))
        yield url
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(30)


def shown_by_inspector(page: Page, url: str) -> FrameLocator:
    """Connect, open the app of ui_display; return its frame."""
    page.goto(url)
    page.get_by_text("Disconnected").wait_for(timeout=SECONDS)
    page.locator("input[type=checkbox], [role=switch]").first.click(force=True)
    page.get_by_text("Apps", exact=True).first.click(timeout=SECONDS)
    page.get_by_text("Display an app", exact=True).first.click(timeout=SECONDS)
    page.get_by_label("name").first.fill("counter", timeout=SECONDS)
    page.get_by_role("button", name="Open App", exact=True).click()
    return page.frame_locator("iframe").first.frame_locator("iframe")


@contextmanager
def hosting(folder: Path, mcp: str) -> Iterator[str]:
    """Run basic-host, with the server at this address as its only one."""
    tsx = folder / "node_modules" / ".bin" / "tsx"
    process = subprocess.Popen(
        [tsx, "serve.ts"], cwd=folder, env={**os.environ, "SERVERS": json.dumps([mcp])},
        stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        for _ in range(2):
            assert "server" in process.stdout.readline(), "the host has not started"
        yield ORIGIN
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(30)


def shown(page: Page) -> FrameLocator:
    """Call ui_display from the host's form; return the app's frame."""
    page.goto(ORIGIN)
    called(page, "ui_display", {"name": "counter"})
    return page.frame_locator("iframe").first.frame_locator("iframe")


def called(page: Page, tool: str, arguments: Mapping[str, object]) -> None:
    chosen = page.locator("select", has=page.locator(f'option[value="{tool}"]'))
    chosen.wait_for(timeout=SECONDS)
    chosen.select_option(tool)
    page.locator("textarea").fill(json.dumps(arguments))
    page.locator("button[type=submit]").click()


def clicked(app: FrameLocator) -> None:
    app.locator("#up").click()
    expect(app.locator("#count")).to_have_text("1", timeout=SECONDS)


def changed(server: Server, app: FrameLocator) -> None:
    server.call("ui_run", code="counter.name = 'from Lua'")
    expect(app.locator("#name")).to_have_value("from Lua", timeout=SECONDS)


def sized(page: Page) -> None:
    page.wait_for_function("document.querySelector('iframe').style.height !== ''", timeout=SECONDS)
    wanted = float(page.locator("iframe").first.evaluate("e => parseFloat(e.style.height)"))
    assert 100 < wanted < 2000, wanted


def themed(page: Page, app: FrameLocator) -> None:
    page.get_by_title("Switch to dark mode").or_(page.get_by_label("Toggle color scheme")).click()
    expect(app.locator("html.theme-dark")).to_have_count(1, timeout=SECONDS)


def shown_by_start(page: Page) -> None:
    called(page, "ui_start", {})
    again = page.frame_locator("iframe").nth(1).frame_locator("iframe")
    expect(again.locator("#count")).to_have_text("1", timeout=SECONDS)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if sys.argv[1:] else None))
