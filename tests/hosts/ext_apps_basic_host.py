"""Operates the example servers of MCP Apps, mounted in `nlui`, in the project's own host: `make ext-apps HOST=folder`.

The folder is `examples/basic-host` of modelcontextprotocol/ext-apps, installed and built. Its page connects to one
`nlui --mcp-http` in which all servers are mounted, calls the tool of each, and shows its app in the host's sandbox.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import BrowserContext, FrameLocator, Page
from playwright.sync_api import Error as PageError

from agreeing import agree_to_gateway
from chromium import launched
from hosts.apps_host import ORIGIN, called, hosting
from hosts.ext_apps import Row, answer_elsewhere, configuration, install, report, settled, with_node
from hosts.ext_apps_operated import APPS, Operated

MCP = re.compile(r"MCP at (http://\S+)/sse")


def main(host: Path, folder: Path, names: Sequence[str]) -> int:
    """Operate the servers with these names, or all."""
    install(folder)
    chosen = [name for name in APPS if not names or name in names]
    with (
        tempfile.TemporaryDirectory() as place,
        gateway(folder, Path(place)) as address,
        hosting(host, f"{address}/mcp"),
        launched("--enable-unsafe-swiftshader") as browser,
    ):
        context = browser.new_context(viewport={"width": 1300, "height": 1100})
        answer_elsewhere(context, folder)
        rows = [operated(context, name, folder, Path(place)) for name in chosen]
    return report(rows)


@contextmanager
def gateway(folder: Path, place: Path) -> Iterator[str]:
    """Run `nlui --mcp-http` with all servers, for the host's page."""
    settings = configuration(folder, place, allowed_origins=[ORIGIN])
    (place / "nlui.yaml").write_text(json.dumps(settings))
    agree_to_gateway(place / "nlui.yaml", place / "c")
    homes = {"HOME": str(place), "XDG_CONFIG_HOME": str(place / "c"), "XDG_DATA_HOME": str(place / "d")}
    words = [sys.executable, "-m", "ui_mcp", "nlui", "--mcp-http", "--mcp-port", "0", str(place / "nlui.yaml")]
    with subprocess.Popen(
        words, cwd=place, env={**os.environ, **homes, "PATH": with_node()}, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stderr is not None
            yield next(found[1] for line in process.stderr if (found := MCP.search(line)))
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def operated(context: BrowserContext, name: str, folder: Path, place: Path) -> Row:
    """Call the tool of one server from the host's form and operate its app; a failure becomes its row."""
    page = context.new_page()
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text[:120]) if message.type == "error" else None)
    try:
        page.goto(ORIGIN)
        called(page, f"{name}__{APPS[name].tool}", APPS[name].arguments(place))
        row = Row(name, True, APPS[name].operate(Operated(page, shown(page))), errors)
    except (PageError, AssertionError) as error:
        row = Row(name, False, str(error).split("\n", maxsplit=1)[0][:300], errors)
    page.screenshot(path=folder / f"host-{name}.png")
    page.close()
    print(f"{'ok ' if row.is_operated else 'BAD'} {name}: {row.said}", flush=True)
    return row


def shown(page: Page) -> FrameLocator:
    return settled(page, page.frame_locator("iframe").first.frame_locator("iframe"))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), sys.argv[3:]))
