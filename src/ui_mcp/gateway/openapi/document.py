"""Loads an OpenAPI document with the files it refers to, and resolves references between them."""

from collections.abc import Iterator
from urllib.parse import unquote

import anyio
import anyio.to_thread

from ui_mcp.errors import ConfigError, NotFoundError, UiMcpError
from ui_mcp.gateway.config.notes import Notes
from ui_mcp.gateway.config.parse import is_openapi, parse
from ui_mcp.gateway.openapi.fetch import Fetched, Fetcher, join
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.lazy_dataclass import dataclass

_DATA_KEYS = frozenset({"example", "examples", "default", "enum", "const", "x-examples"})
"""Keywords that hold data: a `$ref` in there is no reference."""
_MAX_HOPS = 50


@dataclass(frozen=True, slots=True)
class Place:
    """A value inside one of the files, with its JSON pointer (without the leading `#`)."""

    file: str
    pointer: str
    value: Json

    def at(self, *keys: str | int) -> "Place":
        """Return the descendant by its path of keys; its value is None if it does not exist."""
        value, pointer = self.value, self.pointer
        for key in keys:
            pointer += "/" + escape(str(key))
            match value:
                case dict():
                    value = value.get(str(key))
                case list() if str(key).isdigit() and int(key) < len(value):
                    value = value[int(key)]
                case _:
                    value = None
        return Place(self.file, pointer, value)

    def items(self) -> Iterator[tuple[str, "Place"]]:
        """Yield the members of an object or array; a scalar has none."""
        match self.value:
            case dict():
                for key, value in self.value.items():
                    yield key, Place(self.file, f"{self.pointer}/{escape(key)}", value)
            case list():
                for index, value in enumerate(self.value):
                    yield str(index), Place(self.file, f"{self.pointer}/{index}", value)

    def values(self) -> Iterator["Place"]:
        return (member for _, member in self.items())


class Document:
    """A parsed root file and the files it refers to; resolving a reference does no I/O."""

    def __init__(self, root: str, files: dict[str, Json], notes: Notes) -> None:
        self.location = root
        self.files = files
        self.notes = notes
        self._anchors: dict[str, dict[str, Place]] = {}

    @property
    def root(self) -> Place:
        return Place(self.location, "", self.files[self.location])

    @property
    def version(self) -> str:
        """The OpenAPI or Swagger version, as written."""
        root: JsonObject = self.files[self.location]
        return str(root.get("openapi") or root.get("swagger") or "")

    def follow(self, place: Place) -> Place:
        """Follow references until the value is not a reference.

        Raises:
            NotFoundError: a reference has no target, or the chain is circular.
        """
        for _ in range(_MAX_HOPS):
            reference = reference_of(place.value)
            if reference is None:
                return place
            place = self.target(reference, place.file)
        raise NotFoundError(f"Reference at {place.pointer} is circular")

    def target(self, reference: str, file: str) -> Place:
        """Return the target of a `reference` that is written in `file`.

        Raises:
            NotFoundError: the target does not exist, or its file could not be read.
        """
        location, _, fragment = reference.partition("#")
        where = join(file, location) if location else file
        if where not in self.files:
            raise NotFoundError(f"Reference {reference} points to a file that could not be read")
        if fragment and not fragment.startswith("/"):
            return self._anchor(where, fragment, reference)
        place = Place(where, "", self.files[where])
        keys = [unescape(key) for key in fragment.split("/")[1:]]
        place = place.at(*keys)
        if place.value is None:
            raise NotFoundError(f"Reference {reference} points to nothing")
        return place

    def _anchor(self, file: str, name: str, reference: str) -> Place:
        if file not in self._anchors:
            self._anchors[file] = dict(_anchors(Place(file, "", self.files[file])))
        if name not in self._anchors[file]:
            raise NotFoundError(f"Reference {reference} names an unknown anchor")
        return self._anchors[file][name]


async def load(fetcher: Fetcher, root: Fetched) -> Document:
    """Parse the root document and fetch every file it refers to; files that cannot be read become notes.

    Raises:
        ConfigError: the root is not an OpenAPI document.
    """
    notes = Notes()
    tree = await _parsed(root, notes)
    if not is_openapi(tree):
        raise ConfigError(f"{root.location} is not an OpenAPI document")
    files: dict[str, Json] = {root.location: tree}
    wanted = _external_files(tree, root.location, notes)
    while wanted:
        fresh = sorted(wanted - files.keys())
        results = await _fetch_all(fetcher, fresh, notes)
        files |= results
        wanted = {
            found
            for place, value in results.items()
            for found in _external_files(value, place, notes)
            if found not in files and found not in fresh
        }
    return Document(root.location, files, notes)


def reference_of(value: Json) -> str | None:
    """Return the `$ref` of a reference object; None for everything else."""
    if isinstance(value, dict):
        # In `properties`, a member called `$ref` is a schema, not a text.
        reference = value.get("$ref")
        if isinstance(reference, str):
            return reference
    return None


def escape(key: str) -> str:
    """Escape a key for a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1") if "~" in key or "/" in key else key


def unescape(part: str) -> str:
    """Decode one part of a JSON pointer in a URI fragment."""
    return unquote(part).replace("~1", "/").replace("~0", "~")


async def _parsed(fetched: Fetched, notes: Notes) -> Json:
    # In a thread: parsing a large YAML text takes seconds and would block the event loop.
    return await anyio.to_thread.run_sync(parse, fetched.body, notes)


async def _fetch_all(fetcher: Fetcher, locations: list[str], notes: Notes) -> dict[str, Json]:
    found: dict[str, Json] = {}
    limit = anyio.CapacityLimiter(8)

    async def one(location: str) -> None:
        async with limit:
            try:
                found[location] = await _parsed(await fetcher.related(location), notes)
            except UiMcpError as error:
                notes.add(location, "unreadable_file", error.message)

    async with anyio.create_task_group() as group:
        for location in locations:
            group.start_soon(one, location)
    return {location: found[location] for location in locations if location in found}


def _external_files(tree: Json, file: str, notes: Notes) -> set[str]:
    found: set[str] = set()
    stack = [tree]
    while stack:
        node = stack.pop()
        if type(node) is list:
            stack.extend(node)
        elif type(node) is dict:
            members = node.get("properties")
            if type(members) is dict:  # a property may be called `default`; then it is a schema, not data
                stack.extend(value for key, value in members.items() if key in _DATA_KEYS)
            reference = node.get("$ref")
            if isinstance(reference, str) and reference and reference[0] != "#":
                try:
                    found.add(join(file, reference.partition("#")[0]))
                except (UiMcpError, ValueError) as error:
                    notes.add(file, "bad_reference", f"{reference}: {error}")
            stack.extend(value for key, value in node.items() if key not in _DATA_KEYS)
    return found - {file}


def _anchors(place: Place) -> Iterator[tuple[str, Place]]:
    if isinstance(place.value, dict):
        for key in ("$anchor", "$dynamicAnchor"):
            name = place.value.get(key)
            if isinstance(name, str):
                yield name, place
    for key, child in place.items():
        if key not in _DATA_KEYS:
            yield from _anchors(child)
