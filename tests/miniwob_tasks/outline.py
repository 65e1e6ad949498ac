"""Reads our outlines back: what an agent would see, as lines with their parts."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

_LINE = re.compile(
    r"^(?P<indent>\s*)(?:[~+] )?(?:(?P<kind>[\w:-]+(?:\[\w+\])?) )?(?P<uid>[a-z]+\d+)(?P<rest>(?: .*)?)$"
)
_CONTROL = re.compile(r"\[(\w+ [a-z]+\d+[^\]]*)\]")
_WORD = re.compile(
    r' (?:#(?P<id>\S+)|(?P<name>prompt|value)="(?P<given>(?:\\"|[^"])*)"|"(?P<text>(?:\\"|[^"])*)"'
    r"|colour=(?P<colour>\S+)|options=\[(?P<options>.*?)\]|@(?P<box>-?\d+,-?\d+,\d+,\d+)|\.(?P<style>\S+)|(?P<state>[^\s\"]+))"
)


@dataclass(frozen=True, slots=True)
class Line:
    """One node of an outline."""

    level: int
    kind: str
    uid: str
    id: str = ""
    text: str = ""
    texts: tuple[str, ...] = ()
    """Several texts that a brief outline has on one line."""
    value: str = ""
    prompt: str = ""
    style: str = ""
    colour: str = ""
    options: tuple[str, ...] = ()
    states: frozenset[str] = frozenset()
    box: tuple[int, int, int, int] = (0, 0, 0, 0)

    @property
    def middle(self) -> tuple[float, float]:
        x, y, width, height = self.box
        return x + width / 2, y + height / 2


@dataclass(frozen=True, slots=True)
class Page:
    """The lines of an outline, or of a difference between two."""

    lines: list[Line] = field(default_factory=list)
    controls: list[Line] = field(default_factory=list)
    """What can be operated in the rows of tables."""

    @classmethod
    def read(cls, text: str) -> "Page":
        inside = (found for row in text.splitlines() for found in _CONTROL.findall(row))
        return cls(_lines(text.splitlines()), _lines(inside))

    @property
    def goal(self) -> str:
        """What the task asks for."""
        return " ".join(line.text for line in self.below("query", itself=True) if line.text)

    def all(self, kind: str = "", text: str | None = None, *, inside: str = "area") -> list[Line]:
        """Return the lines of a kind with exactly this text, below the node with the id `inside`."""
        return [
            line
            for line in self.below(inside)
            if (not kind or line.kind == kind) and (text is None or line.text == text) and "hidden" not in line.states
        ]

    def one(self, kind: str = "", text: str | None = None, *, inside: str = "area") -> Line:
        found = self.all(kind, text, inside=inside)
        assert found, f"no {kind} {text!r} in {[(line.kind, line.text) for line in self.lines]}"
        return found[0]

    def id(self, name: str) -> Line:
        return next(line for line in self.lines if line.id == name)

    def has(self, name: str) -> bool:
        return any(line.id == name and "hidden" not in line.states for line in self.lines)

    def below(self, name: str, *, itself: bool = False) -> Iterator[Line]:
        """Yield the lines below the node with an id; all lines if there is no such node, as in a difference."""
        if not name:
            yield from self.lines
            return
        start = next((at for at, line in enumerate(self.lines) if line.id == name), None)
        if start is None:
            yield from self.lines
            return
        if itself:
            yield self.lines[start]
        for line in self.lines[start + 1 :]:
            if line.level <= self.lines[start].level:
                return
            yield line


def _lines(texts: Iterable[str]) -> list[Line]:
    return [line for line in map(_line, texts) if line is not None]


def _line(text: str) -> Line | None:
    found = _LINE.match(text)
    if found is None or found["kind"] in {"now", "snapshot", "in", "stage"}:
        return None
    given: dict[str, str] = {}
    states: set[str] = set()
    texts: list[str] = []
    for word in _WORD.finditer(found["rest"]):
        parts = {name: value for name, value in word.groupdict().items() if value is not None}
        if "name" in parts:
            given[parts["name"]] = parts["given"]
        elif "state" in parts:
            states.add(parts["state"])
        else:
            given |= parts
            texts += [parts["text"].replace('\\"', '"')] if "text" in parts else []
    x, y, width, height = map(int, given.get("box", "0,0,0,0").split(","))
    return Line(
        level=len(found["indent"]),
        kind=found["kind"] or "text",
        uid=found["uid"],
        texts=tuple(texts),
        states=frozenset(states),
        options=tuple(given["options"].split(" | ")) if "options" in given else (),
        box=(x, y, width, height),
        **{
            name: given.get(name, "").replace('\\"', '"')
            for name in ("id", "text", "value", "prompt", "style", "colour")
        },
    )
