"""The Lua log files: opened for each write, so that rotating or truncating them from outside is safe; never links."""

import os
import time

from ui_mcp.nofollow import open_inside

LIMIT = 10_000_000
"""Size at which a file is moved aside, once, to `.1`."""

_FILES = {"out": "lua.log", "err": "lua-err.log"}


class Logs:
    """`lua.log` and `lua-err.log` of one directory."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def write(self, which: str, data: bytes) -> None:
        """Append; a log that cannot be written is no reason to stop an app."""
        path = f"{self._folder}/{_FILES.get(which, 'lua.log')}"
        text = data.decode("utf-8", "replace").replace("\r\n", "\n").encode()
        try:
            self._append(path, text)
        except OSError:
            return

    def error(self, origin: str, text: str) -> None:
        """Note an uncaught error with time and origin."""
        self.write("err", f"{time.strftime('%Y-%m-%d %H:%M:%S')} {origin}: {text}\n".encode())

    def _append(self, path: str, text: bytes) -> None:
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        descriptor = open_inside(os.path.dirname(self._folder), path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        with open(descriptor, "ab", buffering=0) as file:
            file.write(text)
            size = file.tell()
        if size > LIMIT:
            os.replace(path, path + ".1")
