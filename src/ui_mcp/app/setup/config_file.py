"""One configuration file of a host: what it will be, shown as a difference, then written with a backup."""

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

from ui_mcp.app.setup import jsonc, toml_text
from ui_mcp.errors import ConfigError, DiskError
from ui_mcp.files import write_atomic
from ui_mcp.gateway.config.editor import edited as rewritten
from ui_mcp.gateway.config.parse import parse as parse_yaml
from ui_mcp.jsontypes import Json, JsonObject

Edit = Callable[[str, Sequence[str], Json], str]
BACKUP = ".before-ui-mcp"


@dataclass(frozen=True, slots=True)
class Change:
    """A file before and after; `before` is None if there is no such file."""

    file: Path
    before: str | None
    after: str
    nothing_left: bool = False
    """Our entry was removed, and the file holds nothing else."""
    removes: bool = False

    @property
    def is_none(self) -> bool:
        return (self.before or "") == self.after

    def diff(self) -> str:
        """Return the difference as lines with + and -."""
        lines = difflib.unified_diff((self.before or "").splitlines(), self.after.splitlines(), lineterm="", n=2)
        return "\n".join(line for line in lines if not line.startswith(("---", "+++")))

    @property
    def backup(self) -> Path:
        return self.file.with_name(f"{self.file.name}{BACKUP}")

    def write(self) -> str:
        """Write the file, keeping its permissions, or delete one that held our entry alone; return what was done.

        Raises:
            DiskError: it cannot be written.
        """
        # People keep such files elsewhere and link to them.
        place = self.file.resolve()
        try:
            if self.nothing_left and not self.backup.exists() and place == self.file.absolute():
                place.unlink()
                return "Deleted"
            mode = place.stat().st_mode & 0o777 if self.before is not None else 0o644
            # The oldest copy is what the person wrote alone.
            if self.before is not None and not self.removes and not self.backup.exists():
                write_atomic(self.backup, place.read_bytes(), mode=mode)
            write_atomic(place, self.after.encode(), mode=mode)
            if self.removes and self.backup.exists() and self.backup.read_bytes() == self.after.encode():
                self.backup.unlink()
        except OSError as error:
            raise DiskError(f"Cannot write {self.file}", error) from error
        return "Wrote"


def planned(file: Path, form: str, path: Sequence[str], value: Json) -> Change:
    """Return the change that sets or removes one entry and nothing else.

    Raises:
        ConfigError: the file cannot be read, is not in its format, or could not be edited without touching more.
    """
    parse, edit = _FORMATS[form]
    try:
        before = file.read_bytes().decode() if file.exists() else None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"Cannot read {file}: {error}") from error
    try:
        after = edit(before or "", path, value)
        if _pruned(parse(after), path) != _pruned(_wanted(parse(before or ""), path, value), path):
            raise ConfigError("other entries would change")
    except ConfigError as error:
        raise ConfigError(f"{file} was left as it is: {error.message}") from error
    removes = value is None
    return Change(file, before, after, removes and before is not None and _is_bare(after, path), removes)


def _is_bare(text: str, path: Sequence[str]) -> bool:
    """Return whether a text holds at most the empty object that our entry was in; comments count as content."""
    return re.sub(r'[\s{}":]', "", text) in {"", "".join(path[:-1])}


def entry_of(file: Path, form: str, path: Sequence[str]) -> Json:
    """Return an entry of a file; None if there is no such entry.

    Raises:
        ConfigError: the file cannot be read, or is not in its format.
    """
    try:
        found = _FORMATS[form][0](file.read_bytes().decode()) if file.exists() else {}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"Cannot read {file}: {error}") from error
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def has_entry(file: Path, form: str, path: Sequence[str]) -> bool:
    """Return whether a file has an entry; one that cannot be read has none."""
    try:
        found = _FORMATS[form][0](file.read_bytes().decode())
    except (OSError, UnicodeDecodeError, ConfigError):
        return False
    for key in path:
        if not isinstance(found, dict) or key not in found:
            return False
        found = found[key]
    return True


def _wanted(before: Json, path: Sequence[str], value: Json) -> Json:
    whole = deepcopy(before)
    inner = whole
    for key in path[:-1]:
        if value is None and key not in inner:
            return whole
        inner = inner.setdefault(key, {})
    if value is None:
        inner.pop(path[-1], None)
    else:
        inner[path[-1]] = value
    return whole


def _pruned(whole: Json, path: Sequence[str]) -> Json:
    """Leave out empty objects along the path: a table of TOML is gone with its last entry."""
    if len(path) > 1 and isinstance(whole, dict) and path[0] in whole:
        inner = _pruned(whole[path[0]], path[1:])
        rest = {key: value for key, value in whole.items() if key != path[0]}
        return {**rest, path[0]: inner} if inner != {} else rest
    return whole


def _parse_yaml(text: str) -> JsonObject:
    """Return what the text means.

    Raises:
        ConfigError: it is not YAML, or not a mapping.
    """
    found = parse_yaml(text.encode()) or {}
    if not isinstance(found, dict):
        raise ConfigError("it is not a mapping")
    return found


def _edited_yaml(text: str, path: Sequence[str], value: Json) -> str:
    """Return the text with the value at `path` replaced or added; None removes it.

    Raises:
        ConfigError: it is not YAML, or a comment would be lost.
    """
    whole = _parse_yaml(text)
    *above, name = path
    inner: JsonObject = whole
    for key in above:
        if not isinstance(inner.get(key), dict):
            if value is None:
                return text
            inner[key] = {}
        inner = inner[key]
    if value is None:
        if inner.pop(name, None) is None:
            return text
    else:
        inner[name] = value
    result = rewritten(text, whole)
    lost = [line.strip() for line in text.splitlines() if "#" in line and line.strip() not in result]
    if lost:
        raise ConfigError(f"the comment {lost[0]!r} would be lost")
    return result


_FORMATS: Mapping[str, tuple[Callable[[str], Json], Edit]] = {
    "json": (jsonc.parse, jsonc.edited),
    "toml": (toml_text.parse, toml_text.edited),
    "yaml": (_parse_yaml, _edited_yaml),  # with the editor of nlui.yaml, as far as that loses no comment
}
