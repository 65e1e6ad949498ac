"""Serves the pages of the package `miniwob` with a fixed seed, enough time, and a report of every reward."""

import functools
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Condition, Thread
from urllib.parse import parse_qs, urlsplit

from needs import missing

STORE = Path(__file__).parents[2] / ".clients" / "miniwob"
EPISODE_MS = 600_000
"""The pages end an episode after some seconds, which is a limit for people; a busy machine needs more."""

SCRIPT = """<script>
core.EPISODE_MAX_TIME = %d; Math.seedrandom(%d);
{ const end = core.endEpisode; core.endEpisode = function (...given) {
    const before = WOB_EPISODE_ID; end.apply(this, given);
    if (WOB_EPISODE_ID !== before) navigator.sendBeacon("/reward?" + WOB_RAW_REWARD_GLOBAL);
}; }
</script>"""


STYLES = {
    "quiet": "#reward-display { display: none !important }",
    "changed": "#area, .ui-dialog { display: none !important }",
}
"""What a parameter of the address changes: hides the clock and rewards beside a task, or the task itself."""


def package(given: str | None = None) -> Path:
    """Return the folder of the package: a given one, or one installed for tests."""
    folder = Path(given) if given else STORE / "miniwob"
    if not folder.is_dir():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(STORE), "miniwob"]
        if subprocess.run(command, check=False).returncode:
            missing("miniwob")
    return folder


def tasks(folder: Path) -> list[str]:
    return sorted(file.stem for file in (folder / "html" / "miniwob").glob("*.html"))


class Site(ThreadingHTTPServer):
    """The pages over HTTP; remembers the reward of the last finished episode."""

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), functools.partial(_Handler, directory=str(folder / "html")))
        self._told = Condition()
        self._reward: float | None = None

    def url(self, task: str, seed: int) -> str:
        with self._told:
            self._reward = None
        return f"http://127.0.0.1:{self.server_port}/miniwob/{task}.html?seed={seed}"

    def finish(self, reward: float) -> None:
        with self._told:
            self._reward = reward if self._reward is None else self._reward
            self._told.notify_all()

    def reward(self, seconds: float) -> float | None:
        """Return the raw reward of the first episode, None if it has not ended after `seconds`."""
        with self._told:
            self._told.wait_for(lambda: self._reward is not None, seconds)
            return self._reward


class _Handler(SimpleHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if parts.path == "/favicon.ico":
            self._answer(b"")
            return
        file = Path(self.translate_path(parts.path))
        if parts.path.startswith("/miniwob/") and file.suffix == ".html" and file.is_file():
            given = parse_qs(parts.query)
            style = "".join(f"<style>{css}</style>" for name, css in STYLES.items() if name in given)
            added = SCRIPT % (EPISODE_MS, int(given.get("seed", ["0"])[0])) + style
            page = file.read_text(encoding="utf-8").replace("</head>", f"{added}</head>", 1)
            self._answer(page.encode())
        else:
            super().do_GET()

    def do_POST(self) -> None:
        self.server.finish(json.loads(urlsplit(self.path).query))
        self._answer(b"")

    def _answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code: object = "-", size: object = "-") -> None:
        """Say nothing about answers that are as they should be."""


@contextmanager
def serving(folder: Path) -> Iterator[Site]:
    with Site(folder) as site:
        Thread(target=site.serve_forever, daemon=True).start()
        yield site
        site.shutdown()
