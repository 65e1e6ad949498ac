"""The Lua log files: opened for each write, so that rotating or truncating them from outside is safe."""

import os
import time

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
        os.makedirs(self._folder, exist_ok=True)
        with open(path, "ab", buffering=0) as file:
            file.write(text)
            size = file.tell()
        if size > LIMIT:
            os.replace(path, path + ".1")
