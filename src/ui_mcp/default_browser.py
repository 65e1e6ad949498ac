"""Opens URLs in the person's default browser without putting them on a command line.

Every account can read the command lines of all processes, and our URLs contain secrets. The opener command gets the
path of a private HTML file that redirects to the URL and is deleted after at most a minute.
"""

import atexit
import html
import os
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ui_mcp.errors import UiMcpError
from ui_mcp.jsontypes import dumps
from ui_mcp.person import state_folder

KEPT_SECONDS = 60.0
OPENERS = {"darwin": ["open"], "win32": ["cmd", "/c", "start", ""]}
_PAGE = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>ui-mcp</title><meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url={address}"></head>
<body><p><a href="{address}">Go on to ui-mcp</a></p><script>location.replace({quoted});</script></body></html>
"""


class BrowserError(UiMcpError):
    """No browser could be opened."""

    code = "browser"


def open_default_browser(address: str) -> None:
    """Open a URL and return; blocks for up to 2 seconds.

    The redirect file is deleted after a minute or when this process exits.

    Raises:
        BrowserError: no browser could be started.
    """
    file = _write(address)

    def remove() -> None:
        file.unlink(missing_ok=True)
        atexit.unregister(remove)

    atexit.register(remove)
    try:
        _launch(file)
    except OSError as error:
        remove()
        raise BrowserError(str(error)) from error
    timer = threading.Timer(KEPT_SECONDS, remove)
    timer.daemon = True
    timer.start()


@contextmanager
def opened(address: str) -> Iterator[float]:
    """Open a URL and delete its redirect file when the block ends.

    Yields the `time.monotonic` deadline by which the block should end.

    Raises:
        BrowserError: no browser could be started.
    """
    file = _write(address)
    try:
        try:
            _launch(file)
        except OSError as error:
            raise BrowserError(str(error)) from error
        yield time.monotonic() + KEPT_SECONDS
    finally:
        file.unlink(missing_ok=True)


def _write(address: str) -> Path:
    folder = state_folder() / "open"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)  # mkdir does not change the mode of an existing folder
    for left in folder.glob("*.html"):  # left behind by killed processes
        with suppress(OSError):
            if left.stat().st_mtime + KEPT_SECONDS < time.time():
                left.unlink()
    file = folder / f"{secrets.token_hex(8)}.html"
    descriptor = os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        # `</script>` in the URL must not end the script element.
        quoted = dumps(address).replace("<", "\\u003c")
        stream.write(_PAGE.format(address=html.escape(address), quoted=quoted))
    return file


def _launch(file: Path) -> None:
    if sys.platform not in OPENERS and not any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    ):
        raise OSError("there is no display")
    command = [*OPENERS.get(sys.platform, ["xdg-open"]), str(file)]
    # A session of its own: Ctrl-C in our terminal must not reach the browser.
    opener = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        code = opener.wait(timeout=2)
    except subprocess.TimeoutExpired:
        # Some openers stay until the browser is closed: still running means it worked.
        return
    if code:
        raise OSError(f"{command[0]} ended with code {code}")
