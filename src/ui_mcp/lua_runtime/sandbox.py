"""What app code reaches outside Lua: modules, apps and shell commands."""

import json  # `ui_mcp.jsontypes` would import thirty more modules into the worker
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from os.path import getmtime, isdir, isfile, join, realpath, relpath

from ui_mcp.lua_runtime.files import without_shebang
from ui_mcp.lua_runtime.permissions import Permissions, Refusal, inside
from ui_mcp.lua_runtime.shell import Emulator

LIMIT = 16 * 1024 * 1024
"""Bytes of a process's output that app code gets."""


class Modules:
    """Finds Lua modules and apps below the base directory; follows links only to files that apps may read."""

    def __init__(self, settings: Mapping[str, object], permissions: Permissions) -> None:
        self._permissions = permissions
        self._base = str(settings["base_dir"])
        self._bundle = str(settings["bundle_lua"])
        self._real_bundle = realpath(self._bundle) if self._bundle else ""

    def find(self, name: object) -> object:
        """Return (real path, path relative to the base directory) of a module, or None."""
        for path in self._candidates(str(name)):
            if isfile(path):
                return self._located(path)
        return None

    def find_bundled(self, name: object) -> object:
        """Return (real path, its name in reports) of a module of the bundle, or None."""
        path = join(self._bundle, str(name))
        return (realpath(path).encode(), f"bundle/{name}".encode()) if self._bundle and isfile(path) else None

    def source(self, path: object) -> object:
        """Return the text of a file, or (None, reason)."""
        refused = self._refusal(str(path))
        if refused is not None:
            return None, f"cannot read {path}: {refused.message}"
        try:
            with open(str(path), "rb") as file:
                return without_shebang(file.read())
        except OSError as error:
            return None, f"cannot read {path}: {error.strerror}"

    def real(self, path: object) -> object:
        """Return a path with its links resolved, as `find` does."""
        return realpath(str(path)).encode()

    def apps(self) -> object:
        """Return the paths of every `apps/*/init.lua`, by name, separated by newlines."""
        folder = join(self._base, "apps")
        names = sorted(os.listdir(folder)) if isdir(folder) else []
        found = (realpath(join(folder, name, "init.lua")) for name in names)
        return "\n".join(path for path in found if isfile(path)).encode()

    def app_list(self) -> object:
        """Return JSON of every app to display: name, title and first paragraph of its README, time of change."""
        folder = join(self._base, "apps")
        names = sorted(os.listdir(folder)) if isdir(folder) else []
        found = [self._described(folder, name) for name in names if isfile(join(folder, name, "app.lua"))]
        return json.dumps(found).encode()

    def _candidates(self, name: str) -> Iterator[str]:
        if "\0" in name or ".." in name or name.startswith(("/", "\\")):
            return
        path = name.replace(".", "/") + ".lua" if not name.endswith(".lua") else name
        yield join(self._base, "lua", path)
        yield join(self._base, path)
        stem = path.removesuffix(".lua")
        yield join(self._base, "apps", stem, "app.lua")
        yield join(self._base, "apps", path)
        if self._bundle:
            yield join(self._bundle, path)

    def _refusal(self, path: str) -> Refusal | None:
        real = realpath(path)
        if self._real_bundle and inside(real, self._real_bundle):
            return None
        return self._permissions.refusal_to_load(real, path)

    def _located(self, path: str) -> tuple[bytes, bytes]:
        real = realpath(path)
        return real.encode(), relpath(path, self._base).encode()

    def _described(self, folder: str, name: str) -> dict[str, str | float]:
        """Return name, title and first paragraph of an app's README; without one, derive the title from the name."""
        title, about = name.replace("-", " ").replace("_", " ").capitalize(), ""
        for readme in ("README.md", "requirements.md"):
            path = join(folder, name, readme)
            if self._refusal(path) is not None:
                continue
            try:
                with open(path, encoding="utf-8") as file:
                    text = file.read(4000)
            except (OSError, UnicodeDecodeError):
                continue
            heading, _, rest = text.partition("\n")
            if heading.startswith("# "):
                title = heading[2:].strip()
                about = " ".join(rest.strip().partition("\n\n")[0].split())
                break
        return {"name": name, "title": title, "about": about, "changed": _changed(join(folder, name, "app.lua"))}


def _changed(path: str) -> float:
    try:
        return getmtime(path)
    except OSError:  # removed a moment ago
        return 0.0


def run_command(
    emulator: Emulator, permissions: Permissions, report: Callable[[Refusal], None], command: str
) -> tuple[bytes | None, object]:
    """Run a shell command in the project; return (output, exit status), or (None, reason).

    Without the permission to start processes, the common file commands are emulated, and others refused.
    """
    if permissions.exec:
        return run_process(permissions, command)
    done = emulator.run(command)
    if done is not None:
        return done
    refusal = permissions.refused_process(command)
    report(refusal)
    return None, refusal.message


def run_process(permissions: Permissions, command: str) -> tuple[bytes | None, object]:
    """Run a shell command in a process."""
    import subprocess  # slows the worker's start, and few apps may run processes

    environment = {**os.environ, "UI_MCP": "true", "FRICTIONLESS_MCP": "true"}
    try:
        process = subprocess.Popen(  # noqa: S602
            command,
            shell=True,  # the person allowed it with lua.permissions.exec
            cwd=permissions.project,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        return None, str(error)
    try:
        output, _ = process.communicate(timeout=permissions.exec_timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None, f"process killed after {permissions.exec_timeout:g} s (lua.permissions.exec_timeout)"
    return output[:LIMIT], process.returncode
