"""Paths that app code may use."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import count, islice
from typing import NamedTuple

ANY_DEPTH = "**"


class Place(NamedTuple):
    """A file or directory, or a pattern of them: `*` stays within a name, `**` stands for any number of names."""

    path: str
    parts: tuple[str, ...]
    folded: bool = False
    """Compare without regard to case: what is denied stays denied on disks that ignore case."""

    @classmethod
    def of(cls, path: str, *, folded: bool = False) -> "Place":
        """Read a path or pattern; `NAME/**` means the same as `NAME`."""
        parts = parts_of(path.casefold() if folded else path)
        while parts and parts[-1] == ANY_DEPTH:
            parts = parts[:-1]
        return cls(path, parts, folded)

    def holds(self, path: str) -> bool:
        """Say whether `path` is this place or lies below it."""
        return _holds(self.parts, self._read(path))

    def lies_below(self, path: str) -> bool:
        """Say whether this place lies inside the directory `path`; where `**` begins, only looking there can tell."""
        return _reaches(self.parts, self._read(path))

    def _read(self, path: str) -> tuple[str, ...]:
        return parts_of(path.casefold() if self.folded else path)


def parts_of(path: str) -> tuple[str, ...]:
    """Split a path into its names."""
    return tuple(part for part in path.replace(os.sep, "/").split("/") if part)


def inside(path: str, folder: str) -> bool:
    """Say whether a real path is `folder` or lies below it."""
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
"""Names of files with secrets, chats and rights of ours: never read or written, wherever they are."""

OWN_IN_BASE = (
    "config",
    "storage/running.lock",
    "storage/install-manifest.json",
    "storage/targets",
    "storage/*.before-*",
)
"""The same, relative to the base directory."""

# fmt: off
OF_HOSTS = tuple(f"/**/{name}" for name in (
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
"""What agents' hosts, shells and editors read or run by themselves: written only where `write` names exactly that."""

RUN_BY_AGENTS = ("event", "state", "variables", "linkapp", "scripts", "html/index.html")
"""What agents run, and the page itself, relative to the base directory; guarded in the same way."""

MAX_ENTRIES = 20_000
"""A directory with more entries is not renamed by app code: looking through it would take too long."""


class Refusal(NamedTuple):
    """Why something was not done, and the line of config.toml that would allow it."""

    setting: str
    path: str
    message: str
    line: str = ""


class Permissions:
    """The policy of `[lua.permissions]` for one world; paths are compared after resolving links."""

    def __init__(self, launch: Mapping[str, object]) -> None:
        self.base = os.path.realpath(str(launch["base_dir"]))
        self.project = os.path.realpath(str(launch["project"]))
        policy = launch["permissions"]
        self._policy: Mapping[str, object] = policy if isinstance(policy, Mapping) else {}
        self._read = self._allowed("read", ("{project}",))
        self._write = self._allowed("write", ("{base_dir}/storage",))
        protected = launch.get("protected", ())
        given = tuple(str(path) for path in protected) if isinstance(protected, (list, tuple)) else ()
        in_base = tuple(f"{{base_dir}}/{name}" for name in OWN_IN_BASE)
        self._own = self._denied((*in_base, *given))
        self._own_names = tuple(Place.of(name, folded=True) for name in OWN)
        self._deny_read = self._denied(self._names("deny_read", ()))
        self._deny_write = self._denied(self._names("deny_write", ()))
        self._host_names = tuple(Place.of(name, folded=True) for name in OF_HOSTS)
        self._scripts = self._denied(tuple(f"{{base_dir}}/{name}" for name in RUN_BY_AGENTS))
        self.exec = bool(self._policy.get("exec", False))
        self.exec_timeout = float(str(self._policy.get("exec_timeout", 10.0)))
        self._env = self._names("env", ("HOME", "LANG", "TZ", "USER"))
        self._numbers = count(1)

    def real(self, path: str) -> str:
        """Return a path as app code spells it, absolute and with links resolved; relative means the project."""
        return os.path.realpath(os.path.join(self.project, path))

    def entry(self, path: str) -> str:
        """Return the place of a directory entry: links on the way are resolved, a link at the end is itself."""
        folder, name = os.path.split(os.path.join(self.project, path).rstrip(os.sep))
        return os.path.join(os.path.realpath(folder), name) if name not in {"", ".", ".."} else self.real(path)

    def refusal(self, mode: str, real: str, given: str) -> Refusal | None:
        """Say why a real path may not be used for `read` or `write`; None when it may."""
        if self.protects(real):
            return self._never(mode, given)
        denied = self._deny_read if mode == "read" else self._deny_write
        if any(place.holds(real) for place in denied):
            message = f"permission denied: {given} (lua.permissions.deny_{mode})"
            return Refusal(f"deny_{mode}", given, message)
        allowed = self._read if mode == "read" else self._write
        reached = [place for place in allowed if place.holds(real)]
        guarded = mode == "write" and self._of_a_host(real)
        if any(not guarded or self._of_a_host(place.path) for place in reached):
            return None
        return self._refused(mode, real, given, exactly=guarded)

    def refusal_to_load(self, real: str, given: str) -> Refusal | None:
        """Say why code and texts of apps may not come from a real path.

        The base directory is their place; a link out of it, which a repository may have brought, reads only what apps
        may read themselves.
        """
        if inside(real, self.base) and not self.protects(real):
            return None
        return self.refusal("read", real, given)

    def refusal_to_remove(self, entry: str, given: str) -> Refusal | None:
        """Say why a directory entry may not be removed, for what it is or for what lies below it."""
        return self._refusal_to_move(entry, entry, given)

    def refusal_to_rename(self, source: str, target: str, given: tuple[str, str]) -> Refusal | None:
        """Say why one directory entry may not become another."""
        refused = self._refusal_to_move(source, target, given[0]) or self._refusal_to_move(target, target, given[1])
        if refused is None and self.refusal("read", target, given[1]) is None:
            return self.refusal("read", source, given[0])  # else renaming would make it readable
        return refused

    def _refusal_to_move(self, entry: str, becomes: str, given: str) -> Refusal | None:
        found = self.refusal("write", entry, given)
        if found is not None or os.path.islink(entry) or not os.path.isdir(entry):
            return found
        if any(place.path == entry for place in self._write) or self._holds_guarded(entry, becomes):
            return Refusal("write", given, f"permission denied: {given} is or holds a place that apps never move")
        return None

    def protects(self, real: str) -> bool:
        """Say whether a real path is one of our own secrets, stores or settings."""
        named = self._below_anchor(real)
        return any(place.holds(real) for place in self._own) or any(place.holds(named) for place in self._own_names)

    def environment(self, name: object) -> str | None:
        """Return an environment variable app code may see."""
        return os.environ.get(str(name)) if "*" in self._env or str(name) in self._env else None

    def temporary(self) -> str | None:
        """Name a new file in the temporary directory of `storage/`; None where a link leads out of that."""
        folder = os.path.join(self.base, "storage", "tmp")
        if os.path.realpath(folder) != folder:
            return None
        os.makedirs(folder, exist_ok=True)
        return os.path.join(folder, f"lua-{os.getpid()}-{next(self._numbers)}")

    def refused_process(self) -> Refusal:
        """Say that app code starts no processes, and how that is changed."""
        message = "permission denied: process execution is off (lua.permissions.exec)"
        return Refusal("exec", "", self._with_way_out(message, "exec = true"), "exec = true")

    def _of_a_host(self, real: str) -> bool:
        if inside(real, os.path.join(self.base, "storage")):
            return False
        named = self._below_anchor(real)
        return any(place.holds(named) for place in self._host_names) or any(
            place.holds(real) for place in self._scripts
        )

    def _below_anchor(self, real: str) -> str:
        """Return the part of a path that app code chooses: where the project itself lies is no reason to deny."""
        anchor = next((folder for folder in (self.base, self.project) if inside(real, folder)), None)
        return real if anchor is None else os.path.relpath(real, anchor)

    def _holds_guarded(self, folder: str, becomes: str) -> bool:
        if any(place.lies_below(folder) for place in (*self._own, *self._deny_read, *self._deny_write)):
            return True
        entries = list(islice(_entries(folder), MAX_ENTRIES + 1))
        moved = (becomes + entry.removeprefix(folder) for entry in entries)
        return len(entries) > MAX_ENTRIES or any(map(self._guarded, (*entries, *moved)))

    def _guarded(self, real: str) -> bool:
        denied = (*self._deny_read, *self._deny_write)
        return self.protects(real) or self._of_a_host(real) or any(place.holds(real) for place in denied)

    def _never(self, mode: str, given: str) -> Refusal:
        message = (
            f"permission denied: {given} (lua.permissions.{mode})\nIt is ui-mcp's own; no setting opens it to apps."
        )
        return Refusal(mode, given, message)

    def _refused(self, mode: str, real: str, given: str, *, exactly: bool) -> Refusal:
        wanted = real if exactly or os.path.isdir(real) else os.path.dirname(real)
        if wanted in {self.project, self.base} and mode == "write":
            wanted = real
        default = ("{project}",) if mode == "read" else ("{base_dir}/storage",)
        line = f"{mode} = {json.dumps([*self._names(mode, default), self._spelled(wanted)])}"
        message = self._with_way_out(f"permission denied: {given} (lua.permissions.{mode})", line)
        return Refusal(mode, given, message, line)

    def _with_way_out(self, message: str, line: str) -> str:
        file = os.path.join(self.base, "config", "config.toml")
        return (
            f"{message}\nTo allow it, the person puts this line under [lua.permissions] in {file}"
            f" and runs `ui-mcp trust`:\n{line}"
        )

    def _spelled(self, path: str) -> str:
        for name, folder in (("{base_dir}", self.base), ("{project}", self.project)):
            if path != folder and inside(path, folder):
                return f"{name}/{os.path.relpath(path, folder)}"
        return path

    def _allowed(self, key: str, default: tuple[str, ...]) -> tuple[Place, ...]:
        home = os.path.realpath(os.path.expanduser("~"))
        project = self.base if inside(home, self.project) else self.project
        found = []
        for name in self._names(key, default):
            path = _resolved(os.path.join(project, self._expanded(name, project)))
            root = next((folder for key, folder in self._roots(project) if name.startswith(key)), None)
            if root is None or inside(path, root):  # a link in the project does not widen what was agreed to
                found.append(Place.of(path))
        return tuple(found)

    def _denied(self, names: tuple[str, ...]) -> tuple[Place, ...]:
        spelled = [os.path.join(self.project, self._expanded(name, self.project)) for name in names]
        paths = dict.fromkeys((*spelled, *map(_resolved, spelled)))
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
