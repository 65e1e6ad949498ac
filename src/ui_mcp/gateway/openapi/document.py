"""An OpenAPI document with every file it refers to, and the resolution of references between them."""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

import anyio
import anyio.to_thread

from ui_mcp.errors import ConfigError, NotFoundError, UiMcpError
from ui_mcp.gateway.config.parse import Notes, is_openapi, parse
from ui_mcp.gateway.openapi.fetch import Fetched, Fetcher, join
from ui_mcp.jsontypes import Json, JsonObject

_DATA_KEYS = frozenset({"example", "examples", "default", "enum", "const", "x-examples"})
_MAX_HOPS = 50


@dataclass(frozen=True, slots=True)
class Place:
    """A value inside one of the files, with its JSON pointer (without the leading `#`)."""

    file: str
    pointer: str
    value: Json

    def at(self, *keys: str | int) -> "Place":
        """Step down; the value is None when there is nothing."""
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
        """Yield the members of an object or array; nothing for anything else."""
        match self.value:
            case dict():
                for key, value in self.value.items():
                    yield key, Place(self.file, f"{self.pointer}/{escape(key)}", value)
            case list():
                for index, value in enumerate(self.value):
                    yield str(index), Place(self.file, f"{self.pointer}/{index}", value)

    def values(self) -> Iterator["Place"]:
        """Yield the members without their keys."""
        return (member for _, member in self.items())


class Document:
    """The root file and its relatives, read once; resolving touches neither disk nor network."""

    def __init__(self, root: str, files: dict[str, Json], notes: Notes) -> None:
        self.location = root
        self.files = files
        self.notes = notes
        self._anchors: dict[str, dict[str, Place]] = {}

    @property
    def root(self) -> Place:
        """The whole root document."""
        return Place(self.location, "", self.files[self.location])

    @property
    def version(self) -> str:
        """The version of the standard the document follows."""
        root: JsonObject = self.files[self.location]
        return str(root.get("openapi") or root.get("swagger") or "")

    def follow(self, place: Place) -> Place:
        """Follow references until something else stands there.

        Raises:
            NotFoundError: a reference leads nowhere, or round in a circle.
        """
        for _ in range(_MAX_HOPS):
            reference = reference_of(place.value)
            if reference is None:
                return place
            place = self.target(reference, place.file)
        raise NotFoundError(f"Reference at {place.pointer} goes round in a circle")

    def target(self, reference: str, file: str) -> Place:
        """Find what `reference`, standing in `file`, points at.

        Raises:
            NotFoundError: nothing is there.
        """
        location, _, fragment = reference.partition("#")
        where = join(file, location) if location else file
        if where not in self.files:
            raise NotFoundError(f"Reference {reference} leads to a file that could not be read")
        if fragment and not fragment.startswith("/"):
            return self._anchor(where, fragment, reference)
        place = Place(where, "", self.files[where])
        keys = [unescape(key) for key in fragment.split("/")[1:]]
        place = place.at(*keys)
        if place.value is None:
            raise NotFoundError(f"Reference {reference} leads nowhere")
        return place

    def _anchor(self, file: str, name: str, reference: str) -> Place:
        if file not in self._anchors:
            self._anchors[file] = dict(_anchors(Place(file, "", self.files[file])))
        if name not in self._anchors[file]:
            raise NotFoundError(f"Reference {reference} names an anchor that is not there")
        return self._anchors[file][name]


async def load(fetcher: Fetcher, root: Fetched) -> Document:
    """Read the root document and, in parallel, every file it refers to; what cannot be read is noted.

    Raises:
        ConfigError: the root is not an OpenAPI document.
    """
    notes = Notes()
    tree = await _parsed(root, notes)
    if not is_openapi(tree):
        raise ConfigError(f"{root.location} is not an OpenAPI document")
    files: dict[str, Json] = {root.location: tree}
    wanted = _outside(tree, root.location, notes)
    while wanted:
        fresh = sorted(wanted - files.keys())
        results = await _fetch_all(fetcher, fresh, notes)
        files |= results
        wanted = {
            found
            for place, value in results.items()
            for found in _outside(value, place, notes)
            if found not in files and found not in fresh
        }
    return Document(root.location, files, notes)


def reference_of(value: Json) -> str | None:
    """Return the reference an object is, if it is one; a *property* called `$ref` holds a schema and is none."""
    if isinstance(value, dict):
        reference = value.get("$ref")
        if isinstance(reference, str):
            return reference
    return None


def escape(key: str) -> str:
    """Write a key as a part of a JSON pointer."""
    return key.replace("~", "~0").replace("/", "~1") if "~" in key or "/" in key else key


def unescape(part: str) -> str:
    """Read a part of a JSON pointer in a URI fragment."""
    return unquote(part).replace("~1", "/").replace("~0", "~")


async def _parsed(fetched: Fetched, notes: Notes) -> Json:
    """Parse in a worker thread: a large YAML text takes seconds, and others are being served."""
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


def _outside(tree: Json, file: str, notes: Notes) -> set[str]:
    found: set[str] = set()
    stack = [tree]
    while stack:
        node = stack.pop()
        if type(node) is list:
            stack.extend(node)
        elif type(node) is dict:
            members = node.get("properties")
            if type(members) is dict:
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
