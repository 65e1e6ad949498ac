"""Outlines of pages made with real component libraries, beside playwright-mcp, chrome-devtools-mcp and agent-browser.

Tokens are characters / 4 of one snapshot of each page. Bars: at most the smallest of the three on every page, and at
most 0.6 of their smallest in the geometric mean. `interactive` is compared with `agent-browser snapshot -i`.
"""

import functools
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import geometric_mean
from threading import Thread

from claims import claim
from introspect_pages import CHROMIUM, Server, devtools, ours, playwright

HERE = Path(__file__).parent / "components"
LIBRARIES = Path(__file__).parents[1] / ".clients" / "components"
PACKAGES = [
    "@shoelace-style/shoelace@2", "@awesome.me/webawesome@3", "antd@5", "react@18", "react-dom@18", "@mui/material@7",
    "@emotion/react@11", "@emotion/styled@11", "ag-grid-community", "monaco-editor", "tabulator-tables@6", "esbuild",
    "agent-browser@>=0.41",
]  # fmt: skip
PAGES = ("shoelace", "webawesome", "antd", "mui", "aggrid", "monaco", "tabulator")
READY_SECONDS = 6.0
WHOLE = "outline"
SHORT = "brief"
ACTING = "interactive"


def libraries() -> Path:
    """Install the libraries and agent-browser, and build the pages that need it; return the folder to serve."""
    if not (LIBRARIES / "node_modules" / ".package-lock.json").is_file():
        LIBRARIES.mkdir(parents=True, exist_ok=True)
        (LIBRARIES / "package.json").write_text("{}")
        command = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", *PACKAGES]
        subprocess.run(command, cwd=LIBRARIES, check=True, stdout=subprocess.DEVNULL)
    for source in sorted(HERE.iterdir()):
        if source.suffix == ".html":
            (LIBRARIES / source.name).write_text(source.read_text())
        elif source.suffix == ".jsx":
            _bundle(source)
    return LIBRARIES


def _bundle(source: Path) -> None:
    copy = LIBRARIES / source.name
    copy.write_text(source.read_text())
    command = [str(LIBRARIES / "node_modules/.bin/esbuild"), copy.name, "--bundle", f"--outfile={source.stem}.js"]
    production = ["--define:process.env.NODE_ENV='production'", "--log-level=error", "--minify"]
    subprocess.run([*command, *production], cwd=LIBRARIES, check=True)
    page = f"<!doctype html><title>{source.stem}</title><div id=root></div><script src={source.stem}.js></script>"
    (LIBRARIES / f"{source.stem}.html").write_text(page)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(folder))
    SimpleHTTPRequestHandler.log_message = lambda *_: None  # type: ignore[method-assign]
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class AgentBrowser:
    """agent-browser, a command line with a browser of its own."""

    def __init__(self, folder: Path, url: str) -> None:
        self._environment = {
            **os.environ, "AGENT_BROWSER_EXECUTABLE_PATH": CHROMIUM, "AGENT_BROWSER_ARGS": "--no-sandbox",
            "AGENT_BROWSER_SESSION": f"bench-{os.getpid()}", "HOME": str(folder),
        }  # fmt: skip
        self.run("open", url)

    def run(self, *words: str) -> str:
        command = [str(LIBRARIES / "node_modules/.bin/agent-browser"), *words]
        done = subprocess.run(command, env=self._environment, capture_output=True, text=True, timeout=120, check=False)
        # It waits for every resource, and gives up on a busy machine; the page is there all the same.
        assert done.returncode == 0 or words[0] == "open", done.stdout + done.stderr
        return done.stdout

    def close(self) -> None:
        self.run("close")


def measured(folder: Path, base: str) -> dict[str, dict[str, int]]:
    """Return the tokens of each page by server."""
    first = f"{base}/{PAGES[0]}.html"
    mine, played, tools = ours(folder, first), playwright(folder, first), devtools(folder, first)
    agent = AgentBrowser(folder, first)
    found: dict[str, dict[str, int]] = {}
    try:
        for name in PAGES:
            found[name] = _page(f"{base}/{name}.html", mine, played, tools, agent)
    finally:
        for server in (mine, played, tools, agent):
            server.close()
    return found


def _page(url: str, mine: Server, played: Server, tools: Server, agent: AgentBrowser) -> dict[str, int]:
    mine.call("ui_browser", op="navigate", url=url, target="url")
    played.call("browser_navigate", url=url)
    tools.call("navigate_page", url=url, type="url")
    agent.run("open", url)
    time.sleep(READY_SECONDS)  # libraries load their parts on demand, and have no common sign of being ready
    texts = {
        WHOLE: mine.call("ui_get_snapshot", target="url", maxTokens=0),
        SHORT: mine.call("ui_get_snapshot", target="url", maxTokens=0, mode="brief"),
        ACTING: mine.call("ui_get_snapshot", target="url", maxTokens=0, mode="interactive"),
        "playwright-mcp": played.call("browser_snapshot"),
        "chrome-devtools-mcp": tools.call("take_snapshot"),
        "agent-browser": agent.run("snapshot"),
        "agent-browser -i": agent.run("snapshot", "-i"),
    }
    if kept := os.environ.get("KEEP_SNAPSHOTS"):
        for label, text in texts.items():
            Path(kept, f"{Path(url).stem}.{label.replace(' ', '')}.txt").write_text(text)
    return {label: len(text) // 4 for label, text in texts.items()}


RIVALS = ("playwright-mcp", "chrome-devtools-mcp", "agent-browser")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, served(libraries()) as base:
        found = measured(Path(folder), base)
    labels = [WHOLE, SHORT, *RIVALS, ACTING, "agent-browser -i"]
    print(f"{'page':12}" + "".join(f"{label:>20}" for label in labels))
    for name, sizes in found.items():
        print(f"{name:12}" + "".join(f"{sizes[label]:>20}" for label in labels))
    least = {name: min(sizes[rival] for rival in RIVALS) for name, sizes in found.items()}
    whole = {name: sizes[WHOLE] / least[name] for name, sizes in found.items()}
    brief = {name: sizes[SHORT] / least[name] for name, sizes in found.items()}
    acting = {name: sizes[ACTING] / sizes["agent-browser -i"] for name, sizes in found.items()}
    for label, ratios in ((WHOLE, whole), (SHORT, brief)):
        for name, ratio in ratios.items():
            claim(f"{label} of {name}, of the smallest other", ratio, at_most=1.0)
        claim(f"{label}, geometric mean", geometric_mean(ratios.values()), at_most=0.6)
    claim("interactive, worst page, of agent-browser -i", max(acting.values()), at_most=1.0)
    claim("interactive, geometric mean", geometric_mean(acting.values()), at_most=0.6)


if __name__ == "__main__":
    main()
