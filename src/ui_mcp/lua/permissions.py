"""What app code may touch: files inside the project, a few environment variables, no processes unless allowed."""

import os
from collections.abc import Mapping
from fnmatch import fnmatchcase
from itertools import count

DENIED = 13


class Permissions:
    """The policy of `[lua.permissions]` for one world; paths are compared after resolving links."""

    def __init__(self, launch: Mapping[str, object]) -> None:
        self.base = os.path.realpath(str(launch["base_dir"]))
        self.project = os.path.realpath(str(launch["project"]))
        policy = launch["permissions"]
        self._policy: Mapping[str, object] = policy if isinstance(policy, Mapping) else {}
        self._read = self._places("read", ("{project}",))
        self._write = self._places("write", ("{project}",))
        self._deny = self._places("deny_write", ())
        self.exec = bool(self._policy.get("exec", False))
        self.exec_timeout = float(str(self._policy.get("exec_timeout", 10.0)))
        self._env = self._names("env", ("HOME", "LANG", "TZ", "USER"))
        self._numbers = count(1)

    def check(self, mode: object, path: object) -> object:
        """Return the path to use for `read` or `write`, or (None, message, 13)."""
        given = str(path)
        try:
            real = os.path.realpath(os.path.join(self.project, given))
        except (OSError, ValueError) as error:
            return None, f"{given}: {error}", DENIED
        if self._allows(str(mode), real):
            return real
        return None, f"permission denied: {given} (lua.permissions.{mode})", DENIED

    def environment(self, name: object) -> str | None:
        """Return an environment variable app code may see."""
        return os.environ.get(str(name)) if "*" in self._env or str(name) in self._env else None

    def temporary(self) -> str:
        """Name a new file in the project's own temporary directory."""
        folder = os.path.join(self.base, "storage", "tmp")
        os.makedirs(folder, exist_ok=True)
        return os.path.join(folder, f"lua-{os.getpid()}-{next(self._numbers)}")

    def _allows(self, mode: str, real: str) -> bool:
        if mode == "read":
            return any(_inside(real, place) for place in self._read)
        if any(_inside(real, place) for place in self._deny):
            return False
        return any(_inside(real, place) for place in self._write)

    def _places(self, key: str, default: tuple[str, ...]) -> tuple[str, ...]:
        home = os.path.realpath(os.path.expanduser("~"))
        project = self.base if self.project in {home, os.path.dirname(self.project)} else self.project
        spelled = (
            name.replace("{project}", project).replace("{base_dir}", self.base) for name in self._names(key, default)
        )
        return tuple(name if "*" in name else os.path.realpath(name) for name in spelled)

    def _names(self, key: str, default: tuple[str, ...]) -> tuple[str, ...]:
        value = self._policy.get(key, default)
        return tuple(str(name) for name in value) if isinstance(value, (list, tuple)) else default


def _inside(path: str, place: str) -> bool:
    if "*" in place:
        return fnmatchcase(path, place)
    return path == place or path.startswith(place.rstrip(os.sep) + os.sep)
