"""Cuts JSON down by whole rows, keeps chosen fields, and finds the rows of an answer."""

from dataclasses import dataclass

from ui_mcp.jsontypes import Json, dumps

_ROUNDS = 12
_LONG_TEXT = 2_000


@dataclass(frozen=True, slots=True)
class Cut:
    """One array or text that was shortened."""

    path: str
    shown: int
    total: int


@dataclass(frozen=True, slots=True)
class Trimmed:
    """A value that fits, and what it lost."""

    value: Json
    cuts: tuple[Cut, ...] = ()


def trim(value: Json, max_bytes: int, max_rows: int) -> Trimmed:
    """Shorten the largest arrays by row, then the longest texts, until the JSON fits."""
    cuts: dict[str, Cut] = {}
    for _ in range(_ROUNDS):
        size = len(dumps(value).encode())
        found = _largest(value, "")
        if found is None or (size <= max_bytes and len(found[1]) <= max_rows):
            break
        path, rows, weight = found
        keep = min(_fitting(rows, weight - (size - max_bytes)), max_rows) if size > max_bytes else max_rows
        total = cuts[path].total if path in cuts else len(rows)
        cuts[path] = Cut(path, keep, total)
        value = _replaced(value, path, rows[:keep])
    if len(dumps(value).encode()) > max_bytes:
        value = _shortened(value, max(max_bytes // 20, 200), "", cuts)
    return Trimmed(value, tuple(cuts.values()))


def pick(value: Json, paths: list[str]) -> Json:
    """Keep only paths such as `items[].id` or `total`."""
    wanted: dict[str, list[str]] = {}
    for path in paths:
        head, _, rest = path.strip().removeprefix("[].").partition(".")
        wanted.setdefault(head.removesuffix("[]"), []).append(rest)
    return _picked(value, wanted)


def _picked(value: Json, wanted: dict[str, list[str]]) -> Json:
    if isinstance(value, list):
        return [_picked(item, wanted) for item in value]
    if not isinstance(value, dict):
        return value
    out = {}
    for key, rests in wanted.items():
        if key in value:
            inner = [rest for rest in rests if rest]
            out[key] = pick(value[key], inner) if inner and len(inner) == len(rests) else value[key]
    return out


def rows_of(value: Json) -> tuple[str, list[Json]] | None:
    """Find the rows of a page: the value itself, or the one array of objects in it."""
    if isinstance(value, list):
        return "", value
    if not isinstance(value, dict):
        return None
    arrays = {key: member for key, member in value.items() if isinstance(member, list)}
    for key in ("data", "items", "results", "records", "values", "entries", "content", "value"):
        if key in arrays:
            return key, arrays[key]
    return max(arrays.items(), key=lambda pair: len(pair[1]), default=None)


def _largest(value: Json, path: str) -> tuple[str, list[Json], int] | None:
    best: tuple[str, list[Json], int] | None = None
    if isinstance(value, list) and len(value) > 1:
        best = (path, value, len(dumps(value).encode()))
    children = value.items() if isinstance(value, dict) else ()
    for key, child in children:
        found = _largest(child, f"{path}.{key}" if path else str(key))
        if found and (best is None or found[2] > best[2]):
            best = found
    if best is None and isinstance(value, list) and value:
        inner = _largest(value[0], f"{path}.0" if path else "0")
        best = inner
    return best


def _fitting(rows: list[Json], budget: int) -> int:
    used = 2
    for index, row in enumerate(rows):
        used += len(dumps(row).encode()) + 1
        if used > budget:
            return max(index, 1)
    return len(rows)


def _replaced(value: Json, path: str, rows: list[Json]) -> Json:
    if not path:
        return rows
    head, _, rest = path.partition(".")
    if isinstance(value, list):
        index = int(head)
        return [*value[:index], _replaced(value[index], rest, rows), *value[index + 1 :]]
    # Keys may hold dots themselves: take the longest key that fits.
    key = max((key for key in value if path == key or path.startswith(f"{key}.")), key=len, default=head)
    return {**value, key: _replaced(value[key], path[len(key) + 1 :], rows)}


def _shortened(value: Json, limit: int, path: str, cuts: dict[str, Cut]) -> Json:
    match value:
        case str() if len(value) > limit:
            cuts[path] = Cut(path, limit, len(value))
            return value[:limit] + "…"
        case dict():
            return {k: _shortened(v, limit, f"{path}.{k}" if path else k, cuts) for k, v in value.items()}
        case list():
            return [_shortened(v, limit, f"{path}.{i}" if path else str(i), cuts) for i, v in enumerate(value)]
        case _:
            return value
