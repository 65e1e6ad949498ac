"""The person's default browser, opened through a private file so that no command line holds the address.

Every account can read the command lines of all processes. The opener gets the path of an HTML file that only its owner
can read and that leads on to the address; the file is gone after a minute at the latest.
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
    """Open an address and return; the file on the way is removed after a minute or when this process ends. Blocks.

    Raises:
        BrowserError: there is no browser here.
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
    """Open an address for the length of the block, which gets the time (`time.monotonic`) to end at the latest.

    Raises:
        BrowserError: there is no browser here.
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
    folder.chmod(0o700)
    for left in folder.glob("*.html"):  # by a process that was killed
        with suppress(OSError):
            if left.stat().st_mtime + KEPT_SECONDS < time.time():
                left.unlink()
    file = folder / f"{secrets.token_hex(8)}.html"
    descriptor = os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        quoted = dumps(address).replace("<", "\\u003c")
        stream.write(_PAGE.format(address=html.escape(address), quoted=quoted))
    return file


def _launch(file: Path) -> None:
    if sys.platform not in OPENERS and not any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    ):
        raise OSError("there is no display")
    command = [*OPENERS.get(sys.platform, ["xdg-open"]), str(file)]
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
