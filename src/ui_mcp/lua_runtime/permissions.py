"""Decides which paths, environment variables and processes app code may use."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import count, islice
from typing import NamedTuple

ANY_DEPTH = "**"


class Place(NamedTuple):
    """A file or directory, or a pattern: `*` matches within a name, `**` any number of names."""

    path: str
    parts: tuple[str, ...]
    folded: bool = False
    """Compare case-insensitively, so that denied paths stay denied on case-insensitive file systems."""

    @classmethod
    def of(cls, path: str, *, folded: bool = False) -> "Place":
        """Parse a path or pattern; `NAME/**` means the same as `NAME`."""
        parts = parts_of(path.casefold() if folded else path)
        while parts and parts[-1] == ANY_DEPTH:
            parts = parts[:-1]
        return cls(path, parts, folded)

    def holds(self, path: str) -> bool:
        """Return whether `path` is this place or lies below it."""
        return _holds(self.parts, self._read(path))

    def lies_below(self, path: str) -> bool:
        """Return whether this place lies inside the directory `path`, as far as can be said without a scan (`**`)."""
        return _reaches(self.parts, self._read(path))

    def _read(self, path: str) -> tuple[str, ...]:
        return parts_of(path.casefold() if self.folded else path)


def parts_of(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.replace(os.sep, "/").split("/") if part)


def inside(path: str, folder: str) -> bool:
    """Return whether a resolved path is `folder` or lies below it."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _holds(pattern: Sequence[str], path: Sequence[str]) -> bool:
    """Match the whole pattern against the beginning of the path."""
    for at, part in enumerate(pattern):
        if part == ANY_DEPTH:
            return any(_holds(pattern[at + 1 :], path[skip:]) for skip in range(at, len(path) + 1))
        if at >= len(path) or not _same(path[at], part):
            return False
    return True


def _reaches(pattern: Sequence[str], path: Sequence[str]) -> bool:
    """Match the whole path against the beginning of a longer pattern."""
    before = pattern[: len(path)]
    if len(pattern) <= len(path) or ANY_DEPTH in before:
        return False
    return all(_same(name, part) for name, part in zip(path, before, strict=True))


def _same(name: str, pattern: str) -> bool:
    return fnmatchcase(name, pattern) if "*" in pattern else name == pattern


DENIED = 13

OWN = (
    "/**/.ui-mcp",
    "/**/.ui-mcp.*",
    "/**/mcp-token",
    "/**/nlui.yaml",
    "/**/nlui.yml",
    "/**/approvals.db*",
    "/**/runtime.db*",
    "/**/agent.db*",
)
"""Names of ui-mcp's files with secrets, chats and permissions; app code may not use them in any directory."""

OWN_IN_BASE = (
    "config",
    "storage/running.lock",
    "storage/install-manifest.json",
    "storage/targets",
    "storage/*.before-*",
)
"""Such files relative to the base directory."""

# fmt: off
HOST_FILES = tuple(f"/**/{name}" for name in (
    ".git", ".gitmodules", ".gitattributes", ".github", ".husky", ".pre-commit-config.yaml",
    ".claude", "CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md", ".mcp.json", ".gemini", ".codex", ".kiro",
    ".cursor", ".cursorrules", ".windsurf", ".windsurfrules", ".cline", ".clinerules", ".roo", ".roomodes", ".continue",
    ".opencode", "opencode.json", ".goose", ".goosehints",
    ".vscode", "*.code-workspace", ".zed", ".idea", ".devcontainer",
    ".env", ".env.*", ".envrc", ".direnv", ".venv", "sitecustomize.py", "conftest.py",
    "package.json", ".npmrc", ".yarnrc*", ".pnp.*",
    "Makefile", "GNUmakefile", "*.mk", "justfile", ".justfile", "Taskfile.yml", "Taskfile.yaml",
))

# fmt: on
"""Files that agents' hosts, shells and editors read or run unasked; writable only if `write` names that file itself."""

RUN_BY_AGENTS = ("event", "state", "variables", "linkapp", "scripts", "html/index.html")
"""Scripts that agents run, and the page itself, relative to the base directory; guarded in the same way."""

_OWN_PLACES = tuple(Place.of(name, folded=True) for name in OWN)
_HOST_PLACES = tuple(Place.of(name, folded=True) for name in HOST_FILES)
# Here, in the fork server: workers share what was made before they were forked.
for _place in (*_OWN_PLACES, *_HOST_PLACES):
    for _name in _place.parts:
        _same("", _name)  # compiles patterns

MAX_SHOWN = 200
"""Characters of a refused command that are shown."""

BASE_NAMES = (".ui", ".claude/ui")
"""Base directories that apps name in their code."""

MAX_ENTRIES = 20_000
"""App code may not rename a directory with more entries, because checking them would take too long."""


class Refusal(NamedTuple):
    """Why an operation was refused, and the line of config.toml that would allow it."""

    setting: str
    path: str
    message: str
    line: str = ""


class Permissions:
    """The policy of `[lua.permissions]` for one Lua VM; paths are compared after resolving links."""

    def __init__(self, settings: Mapping[str, object]) -> None:
        self.base = os.path.realpath(str(settings["base_dir"]))
        self.project = os.path.realpath(str(settings["project"]))
        policy = settings["permissions"]
        self._policy: Mapping[str, object] = policy if isinstance(policy, Mapping) else {}
        self._read = self._allowed("read", ("{project}",))
        self._write = self._allowed("write", ("{base_dir}/storage",))
        protected = settings.get("protected", ())
        given = tuple(str(path) for path in protected) if isinstance(protected, (list, tuple)) else ()
        in_base = tuple(f"{{base_dir}}/{name}" for name in OWN_IN_BASE)
        self._own = self._denied((*in_base, *given))
        self._deny_read = self._denied(self._names("deny_read", ()))
        self._deny_write = self._denied(self._names("deny_write", ()))
        self._scripts = self._denied(tuple(f"{{base_dir}}/{name}" for name in RUN_BY_AGENTS))
        self.exec = bool(self._policy.get("exec", False))
        self.exec_timeout = float(str(self._policy.get("exec_timeout", 10.0)))
        self._env = self._names("env", ("HOME", "LANG", "TZ", "USER"))
        self._numbers = count(1)

    def real(self, path: str) -> str:
        """Return a path of app code, absolute and with links resolved; relative paths start at the project."""
        return os.path.realpath(self._absolute(path))

    def entry(self, path: str) -> str:
        """Return the path of a directory entry: links in its parents are resolved, a link at the end is not."""
        folder, name = os.path.split(self._absolute(path).rstrip(os.sep))
        return os.path.join(os.path.realpath(folder), name) if name not in {"", ".", ".."} else self.real(path)

    def _absolute(self, path: str) -> str:
        """Return an absolute path; the usual name of another base directory, if there is none, means this one."""
        path = os.path.join(self.project, path)
        for name in BASE_NAMES:
            folder = os.path.join(self.project, name)
            if inside(path, folder) and not os.path.lexists(folder):
                return self.base + path[len(folder) :]
        return path

    def refusal(self, mode: str, real: str, given: str) -> Refusal | None:
        """Return why a resolved path may not be used for `read` or `write`, or None if it may."""
        if self.protects(real):
            return self._always_refused(mode, given)
        denied = self._deny_read if mode == "read" else self._deny_write
        if any(place.holds(real) for place in denied):
            message = f"permission denied: {given} (lua.permissions.deny_{mode})"
            return Refusal(f"deny_{mode}", given, message)
        allowed = self._read if mode == "read" else self._write
        reached = [place for place in allowed if place.holds(real)]
        guarded = mode == "write" and self._is_host_file(real)
        if any(not guarded or self._is_host_file(place.path) for place in reached):
            return None
        return self._refused(mode, real, given, exactly=guarded)

    def refusal_to_load(self, real: str, given: str) -> Refusal | None:
        """Return why Lua code and text files of apps may not be loaded from a resolved path, or None.

        Everything in the base directory may be loaded. A link out of it, which may come from a cloned repository, leads
        only to files that apps may read themselves.
        """
        if inside(real, self.base) and not self.protects(real):
            return None
        return self.refusal("read", real, given)

    def refusal_to_remove(self, entry: str, given: str) -> Refusal | None:
        """Return why a directory entry may not be removed, for its own sake or for what lies below it, or None."""
        return self._refusal_to_move(entry, entry, given)

    def refusal_to_rename(self, source: str, target: str, given: tuple[str, str]) -> Refusal | None:
        """Return why one directory entry may not be renamed to another, or None."""
        refused = self._refusal_to_move(source, target, given[0]) or self._refusal_to_move(target, target, given[1])
        if refused is None and self.refusal("read", target, given[1]) is None:
            return self.refusal("read", source, given[0])  # renaming must not make an unreadable file readable
        return refused

    def _refusal_to_move(self, entry: str, becomes: str, given: str) -> Refusal | None:
        found = self.refusal("write", entry, given)
        if found is not None or os.path.islink(entry) or not os.path.isdir(entry):
            return found
        if any(place.path == entry for place in self._write) or self._contains_guarded(entry, becomes):
            return Refusal("write", given, f"permission denied: {given} is or contains a path that apps may not move")
        return None

    def protects(self, real: str) -> bool:
        """Return whether a resolved path is one of ui-mcp's secrets, stores or settings."""
        named = self._below_anchor(real)
        return any(place.holds(real) for place in self._own) or any(place.holds(named) for place in _OWN_PLACES)

    def environment(self, name: object) -> str | None:
        """Return an environment variable, if app code may see it."""
        return os.environ.get(str(name)) if "*" in self._env or str(name) in self._env else None

    def temporary(self) -> str | None:
        """Return the name of a new file in `storage/tmp`, or None if a link leads out of it."""
        folder = os.path.join(self.base, "storage", "tmp")
        if os.path.realpath(folder) != folder:
            return None
        os.makedirs(folder, exist_ok=True)
        return os.path.join(folder, f"lua-{os.getpid()}-{next(self._numbers)}")

    def refused_process(self, command: str) -> Refusal:
        """Return the refusal to start a process, with the setting that allows it."""
        shown = command if len(command) <= MAX_SHOWN else command[:MAX_SHOWN] + "…"
        message = f"permission denied: process execution is off (lua.permissions.exec): {shown}"
        return Refusal("exec", shown, self._with_hint(message, "exec = true"), "exec = true")

    def _is_host_file(self, real: str) -> bool:
        if inside(real, os.path.join(self.base, "storage")):
            return False
        named = self._below_anchor(real)
        return any(place.holds(named) for place in _HOST_PLACES) or any(place.holds(real) for place in self._scripts)

    def _below_anchor(self, real: str) -> str:
        """Return a path relative to the base directory or project: only names that app code chooses are matched."""
        anchor = next((folder for folder in (self.base, self.project) if inside(real, folder)), None)
        return real if anchor is None else os.path.relpath(real, anchor)

    def _contains_guarded(self, folder: str, becomes: str) -> bool:
        if any(place.lies_below(folder) for place in (*self._own, *self._deny_read, *self._deny_write)):
            return True
        entries = list(islice(_entries(folder), MAX_ENTRIES + 1))
        moved = (becomes + entry.removeprefix(folder) for entry in entries)
        return len(entries) > MAX_ENTRIES or any(map(self._guarded, (*entries, *moved)))

    def _guarded(self, real: str) -> bool:
        denied = (*self._deny_read, *self._deny_write)
        return self.protects(real) or self._is_host_file(real) or any(place.holds(real) for place in denied)

    def _always_refused(self, mode: str, given: str) -> Refusal:
        message = (
            f"permission denied: {given} (lua.permissions.{mode})\nIt is ui-mcp's own; no setting opens it to apps."
        )
        return Refusal(mode, given, message)

    def _refused(self, mode: str, real: str, given: str, *, exactly: bool) -> Refusal:
        suggested = real if exactly or os.path.isdir(real) else os.path.dirname(real)
        if suggested in {self.project, self.base} and mode == "write":
            suggested = real
        default = ("{project}",) if mode == "read" else ("{base_dir}/storage",)
        line = f"{mode} = {json.dumps([*self._names(mode, default), self._with_variables(suggested)])}"
        message = self._with_hint(f"permission denied: {given} (lua.permissions.{mode})", line)
        return Refusal(mode, given, message, line)

    def _with_hint(self, message: str, line: str) -> str:
        file = os.path.join(self.base, "config", "config.toml")
        return (
            f"{message}\nTo allow it, the person puts this line under [lua.permissions] in {file}"
            f" and runs `ui-mcp trust`:\n{line}"
        )

    def _with_variables(self, path: str) -> str:
        for name, folder in (("{base_dir}", self.base), ("{project}", self.project)):
            if path != folder and inside(path, folder):
                return f"{name}/{os.path.relpath(path, folder)}"
        return path

    def _allowed(self, key: str, default: tuple[str, ...]) -> tuple[Place, ...]:
        home = os.path.realpath(os.path.expanduser("~"))
        # A project that contains the home directory would expose all of it.
        project = self.base if inside(home, self.project) else self.project
        found = []
        for name in self._names(key, default):
            path = _resolved(os.path.join(project, self._expanded(name, project)))
            root = next((folder for key, folder in self._roots(project) if name.startswith(key)), None)
            if root is None or inside(path, root):  # a link in the project must not widen the setting
                found.append(Place.of(path))
        return tuple(found)

    def _denied(self, names: tuple[str, ...]) -> tuple[Place, ...]:
        written = [os.path.join(self.project, self._expanded(name, self.project)) for name in names]
        # Deny both the path as written and its target, so that a link hides neither.
        paths = dict.fromkeys((*written, *map(_resolved, written)))
        return tuple(Place.of(path, folded=True) for path in paths)

    def _expanded(self, name: str, project: str) -> str:
        for key, folder in self._roots(project):
            name = name.replace(key, folder)
        return os.path.expanduser(name)

    def _roots(self, project: str) -> tuple[tuple[str, str], ...]:
        return ("{project}", project), ("{base_dir}", self.base)

    def _names(self, key: str, default: tuple[str, ...]) -> tuple[str, ...]:
        value = self._policy.get(key, default)
        return tuple(str(name) for name in value) if isinstance(value, (list, tuple)) else default


def _resolved(path: str) -> str:
    """Resolve the links of a path, or of the part of a pattern before its first `*`."""
    if "*" not in path:
        return os.path.realpath(path)
    folder, _, rest = path.partition("*")
    folder, _, beginning = folder.rpartition(os.sep)
    return os.path.join(os.path.realpath(folder or os.sep), beginning + "*" + rest)


def _entries(folder: str) -> Iterator[str]:
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            yield os.path.join(parent, name)
