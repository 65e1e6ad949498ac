"""Parses the small part of the shell's language that apps use to list and arrange files."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple


class UnsupportedError(Exception):
    """The text uses something that only a real shell can do."""


class Part(NamedTuple):
    """A piece of a word; quoted pieces are not expanded to file names."""

    text: str
    quoted: bool


Word = tuple[Part, ...]


class Command(NamedTuple):
    words: tuple[Word, ...]
    source: Word | None = None
    """The file that is its input."""
    target: Word | None = None
    """The file that its output is written to."""
    append: bool = False
    merged: bool = False
    """Whether its error messages belong to its output."""


class Step(NamedTuple):
    """A pipeline, and the operator before it: `;`, `&&` or `||`."""

    operator: str
    commands: tuple[Command, ...]


Lookup = Callable[[str], str | None]
"""Returns the value of an environment variable."""

OPERATORS = ("&&", "||", ";", "|", "\n")
REDIRECTIONS = ("2>&1", "2>>", "2>", "&>", ">>", ">", "<")
SPECIAL = frozenset("`(){}!&#")
"""Characters that begin something unsupported outside quotes."""


def parse(text: str, lookup: Lookup) -> list[Step]:
    """Return the steps of a command line.

    Raises:
        UnsupportedError: a process is needed to run it.
    """
    steps: list[Step] = []
    operator, commands = ";", [_Draft()]
    for item in _items(text, lookup):
        if isinstance(item, tuple):
            commands[-1].add(item)
        elif item in REDIRECTIONS:
            commands[-1].redirect(item)
        elif item == "|":
            commands.append(_Draft())
        else:
            _finish(steps, operator, commands, last=item in {";", "\n"})
            operator, commands = (";" if item == "\n" else item), [_Draft()]
    _finish(steps, operator, commands, last=True)
    return steps


def _finish(steps: list[Step], operator: str, drafts: "list[_Draft]", *, last: bool) -> None:
    if len(drafts) == 1 and drafts[0].empty and last and (operator == ";"):
        return
    if any(draft.empty for draft in drafts):
        raise UnsupportedError
    steps.append(Step(operator, tuple(draft.command() for draft in drafts)))


class _Draft:
    def __init__(self) -> None:
        self._words: list[Word] = []
        self._pending = ""
        self._source: Word | None = None
        self._target: Word | None = None
        self._append = self._merged = False

    @property
    def empty(self) -> bool:
        return not self._words

    def add(self, word: Word) -> None:
        kind, self._pending = self._pending, ""
        if kind == "<":
            self._source = word
        elif kind in {">", ">>", "&>"}:
            self._target, self._append, self._merged = word, kind == ">>", self._merged or kind == "&>"
        elif kind in {"2>", "2>>"}:
            if "".join(part.text for part in word) != "/dev/null":
                raise UnsupportedError
        else:
            self._words.append(word)

    def redirect(self, sign: str) -> None:
        if self._pending:
            raise UnsupportedError
        if sign == "2>&1":
            self._merged = True
        else:
            self._pending = sign

    def command(self) -> Command:
        if self._pending:
            raise UnsupportedError
        return Command(tuple(self._words), self._source, self._target, self._append, self._merged)


def _items(text: str, lookup: Lookup) -> Iterator[str | Word]:
    at = 0
    while at < len(text):
        if text[at] in " \t":
            at += 1
            continue
        sign = next((one for one in (*REDIRECTIONS, *OPERATORS) if text.startswith(one, at)), None)
        if sign is not None:
            at += len(sign)
            yield sign
        else:
            word, at = _word(text, at, lookup)
            yield word


def _word(text: str, at: int, lookup: Lookup) -> tuple[Word, int]:
    parts: list[Part] = []
    while at < len(text) and text[at] not in " \t\n;|<>":
        char = text[at]
        if char in SPECIAL and not (char == "!" and not parts and text[at + 1 : at + 2] == " "):
            raise UnsupportedError
        if char == "'":
            end = _closing(text, at + 1, "'")
            parts.append(Part(text[at + 1 : end], quoted=True))
            at = end + 1
        elif char == '"':
            part, at = _double_quoted(text, at + 1, lookup)
            parts.append(part)
        elif char == "\\":
            parts.append(Part(text[at + 1 : at + 2], quoted=True))
            at += 2
        elif char == "$":
            value, at = _variable(text, at + 1, lookup)
            parts.append(Part(value, quoted=True))
        elif char == "~" and not parts and text[at + 1 : at + 2] in {"", "/", " "}:
            parts.append(Part(lookup("HOME") or "~", quoted=True))
            at += 1
        else:
            parts.append(Part(char, quoted=False))
            at += 1
    return tuple(parts), at


def _double_quoted(text: str, at: int, lookup: Lookup) -> tuple[Part, int]:
    found: list[str] = []
    while at < len(text) and text[at] != '"':
        if text[at] == "`":
            raise UnsupportedError
        if text[at] == "$":
            value, at = _variable(text, at + 1, lookup)
            found.append(value)
            continue
        if text[at] == "\\" and text[at + 1 : at + 2] in {'"', "\\", "$", "`"}:
            at += 1
        found.append(text[at : at + 1])
        at += 1
    if at >= len(text):
        raise UnsupportedError
    return Part("".join(found), quoted=True), at + 1


def _variable(text: str, at: int, lookup: Lookup) -> tuple[str, int]:
    if text[at : at + 1] == "?":
        return STATUS, at + 1
    end = at
    while end < len(text) and (text[end].isalnum() or text[end] == "_"):
        end += 1
    name = text[at:end]
    if not name or name[0].isdigit():
        raise UnsupportedError
    return lookup(name) or "", end


def _closing(text: str, at: int, sign: str) -> int:
    end = text.find(sign, at)
    if end < 0:
        raise UnsupportedError
    return end


STATUS = "\0?"
"""Stands for `$?`, the status of the step before."""


def split_options(arguments: Sequence[str], known: str) -> tuple[frozenset[str], list[str]]:
    """Split arguments into single-letter options and the rest.

    Raises:
        UnsupportedError: an option is not known.
    """
    options = [one for one in arguments if one.startswith("-") and one not in {"-", "--"}]
    letters = frozenset("".join(one[1:] for one in options))
    if not letters <= frozenset(known):
        raise UnsupportedError
    return letters, [one for one in arguments if one not in options and one != "--"]


def search_tests(arguments: Sequence[str]) -> tuple[Sequence[str], dict[str, str]]:
    """Return the start directories of `find` and its tests.

    Raises:
        UnsupportedError: it has other tests, or does more than list.
    """
    at = next((at for at, one in enumerate(arguments) if one.startswith("-")), len(arguments))
    rest = [one for one in arguments[at:] if one != "-print"]
    tests = dict(zip(rest[::2], rest[1::2], strict=False))
    numbers = all(tests.get(name, "0").isdigit() for name in ("-maxdepth", "-mindepth"))
    if len(rest) % 2 or len(tests) * 2 < len(rest) or not tests.keys() <= FIND_TESTS or not numbers:
        raise UnsupportedError
    return arguments[:at] or ["."], tests


FIND_TESTS = frozenset({"-name", "-iname", "-type", "-maxdepth", "-mindepth"})


def leading_count(arguments: Sequence[str]) -> tuple[int, list[str]]:
    """Return the number of `-5`, `-n 5` or `-n5`, by default 10, and the paths."""
    count, paths = 10, []
    for before, one in zip(("", *arguments), arguments, strict=False):
        digits = one.removeprefix("-").removeprefix("n")
        if before == "-n" or (one.startswith("-") and digits.isdigit()):
            count = int(digits) if digits.isdigit() else count
        elif one != "-n":
            paths.append(one)
    return count, paths
