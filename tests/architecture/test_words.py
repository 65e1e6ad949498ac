"""Code and documents use the words of the field; run this file to list every place that does not."""

import re
import subprocess
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from needs import missing

ROOT = Path(__file__).parents[2]
WORDS = {
    "nursery": "fork server",
    "world": "worker (in prose: Lua VM)",
    "worlds": "workers (in prose: Lua VMs)",
    "bear": "fork",
    "bury": "reap",
    "bell": "wake-up",
    "desk": "service, context",
    "scribe": "writer",
    "door": "entry point, port, authentication",
    "doors": "ports, listeners",
    "lens": "driven page",
    "sight": "target registry",
    "eyes": "page queries, snapshots",
    "whoever": "the caller, the client: name the actor",
    "strangers": "untrusted text, untrusted clients",
    "sieve": "filter",
}
STEMS = {"stir": "change, inotify event", "mend": "fix, repair, resolve"}
"""Words that are private in every form."""
PROSE = {
    "nobody": "no client, no caller: name the actor",
    "somebody": "a client, a person: name the actor",
    "told": "notified, reported",
    "wish": "a request, an option",
}
"""Words that are fine in identifiers and strings, but not in docstrings and comments; `wish` only as "a wish"."""
DOCUMENTS = frozenset({"nursery", "stirring", "scribe", "whoever"})
"""What users' texts must do without, and every form of `mend`."""

EXEMPT = re.compile(
    r"""
    hello,?\s+world | world-(?:readable|writable)
    | open_?world | isolated[ _-]?worlds?   # a hint of MCP, a thing of browsers
    | load_?mended | ui-mcp-eyes | [\w*]*\.bell\b | [\w*]*-bells\b | [`'"]mend[`'"]   # names that others see
    """,
    re.VERBOSE | re.IGNORECASE,
)
QUOTED = re.compile(r"“[^”]*”|\"[^\"\n]*(?:\n[^\"\n]*)?\"")
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
"""One word of a name: `HTTPPort` and `http_port` have two."""
ROOTS = (*WORDS, *STEMS, *PROSE)

LINE_STRINGS = r""" "[^"\\\n]*(?:\\.[^"\\\n]*)*" | '[^'\\\n]*(?:\\.[^'\\\n]*)*' """
C_COMMENTS = r" //[^\n]* | /\*.*?\*/ "
PYTHON = r"""
    \#[^\n]* | [(\[{] | [)\]}]
    | \"\"\"[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*\"\"\"
    | \'\'\'[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*\'\'\'
"""
TYPESCRIPT = r"""
    `(?:\\.|\$\{(?:[^{}`]|`[^`]*`|\{[^{}]*\})*\}|[^`\\])*`
    | (?:[(,=:\[!&|?{};]|\breturn)\s*/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/   # a regular expression
"""
LUA = r" --\[(=*)\[.*?\]\1\] | --[^\n]* | \[(=*)\[.*?\]\2\] "
JAVA = r' """.*?""" '


def _tokens(*patterns: str) -> re.Pattern[str]:
    """Return the pattern of everything that is not plain code; the first characters tell what it is."""
    return re.compile(" | ".join(patterns), re.VERBOSE | re.DOTALL)


_TYPESCRIPT = _tokens(C_COMMENTS, LINE_STRINGS, TYPESCRIPT)
LANGUAGES = {
    ".py": _tokens(PYTHON, LINE_STRINGS),
    ".ts": _TYPESCRIPT,
    ".js": _TYPESCRIPT,
    ".lua": _tokens(LUA, LINE_STRINGS),
    ".java": _tokens(C_COMMENTS, JAVA, LINE_STRINGS),
}
AREAS = {
    ".ts": "TypeScript",
    ".js": "TypeScript",
    ".lua": "Lua",
    ".java": "Java",
    ".md": "Markdown",
    ".html": "page texts",
}


@dataclass(frozen=True, slots=True)
class Place:
    """A private word and where it stands."""

    area: str
    file: str
    line: int
    word: str
    instead: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.word} -> {self.instead}"


@dataclass(frozen=True, slots=True)
class Parts:
    """A file's text taken apart; every part is as long as the file, with blanks where it has nothing."""

    code: str
    prose: str
    strings: str


def places(files: list[Path]) -> list[Place]:
    """Return every place of every file, in the order of their names."""
    return [place for file in sorted(files) for place in places_in(file.relative_to(ROOT), file)]


def places_in(name: Path, file: Path) -> Iterator[Place]:
    """Yield the private words of one file."""
    area = area_of(name)
    if not area:
        return
    text = file.read_text(encoding="utf-8")
    lines = [match.start() for match in re.finditer("\n", text)]
    for start, word, instead, where in sorted(set(found_in(text, name.suffix))):
        yield Place(where or area, name.as_posix(), bisect_right(lines, start) + 1, word, instead)


def area_of(name: Path) -> str:
    """Return the area that a file of the repository counts for, or nothing."""
    if name.suffix == ".py":
        return f"Python, {name.parts[0] if name.parts[0] in {'src', 'tests'} else 'tools'}"
    return AREAS.get(name.suffix, "")


def found_in(text: str, suffix: str) -> Iterator[tuple[int, str, str, str]]:
    """Yield offset, word, better word and, where it is not the area of the file, the area of each place in a text."""
    lines = _suspect_lines(text)
    if not lines:  # which spares most files the rest
        return
    if suffix in LANGUAGES:
        parts = taken_apart(text, LANGUAGES[suffix])
        yield from _code_words(parts.code, lines, WORDS)
        yield from _code_words(_blanked(QUOTED, parts.prose), lines, WORDS | PROSE)
        if suffix in {".ts", ".js"}:
            yield from _document_words(parts.strings, lines, "page texts")
    else:
        yield from _document_words(_blanked(QUOTED, text) if suffix == ".md" else text, lines, "")


def _suspect_lines(text: str) -> set[tuple[int, int]]:
    """Return begin and end of the lines that contain the letters of a private word."""
    lowered = text.replace("İ", "I").lower()  # the one letter that becomes two
    found = set()
    for root in ROOTS:
        at = lowered.find(root)
        while at >= 0:
            begin, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
            found.add((begin, end if end >= 0 else len(text)))
            at = lowered.find(root, at + 1)
    return found


def _code_words(text: str, lines: set[tuple[int, int]], banned: dict[str, str]) -> Iterator[tuple[int, str, str, str]]:
    for start, word in _words(text, lines):
        instead = banned.get(word) or _stem(word)
        if instead and (word != "wish" or re.search(r"\b[Aa]\s+$", text[max(0, start - 20) : start])):
            yield start, word, instead, ""


def _document_words(text: str, lines: set[tuple[int, int]], area: str) -> Iterator[tuple[int, str, str, str]]:
    for start, word in _words(text, lines):
        if word in DOCUMENTS or word.startswith("mend"):
            yield start, word, WORDS.get(word) or _stem(word), area


def _stem(word: str) -> str:
    return next((instead for stem, instead in STEMS.items() if word.startswith(stem)), "")


def _words(text: str, lines: set[tuple[int, int]]) -> Iterator[tuple[int, str]]:
    """Yield offset and text of each word on some lines, exempt names left out."""
    for begin, end in lines:
        for part in PART.finditer(_blanked(EXEMPT, text[begin:end])):
            yield begin + part.start(), part[0].lower()


def _blanked(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(lambda match: " " * len(match[0]), text)


def taken_apart(text: str, language: re.Pattern[str]) -> Parts:
    """Separate the code, the comments and docstrings, and the other strings of a source text."""
    code, prose, strings = [], [], []
    at = depth = 0
    for token in language.finditer(text):
        start, end = token.span()
        gap, blank, here = " " * (start - at), " " * (end - start), token[0]
        kind = _kind(here)
        if kind == "string" and depth == 0 and language is LANGUAGES[".py"] and _begins_line(text, start):
            kind = "comment"  # a string that is a statement by itself: a docstring
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(here, 0)
        code += [text[at:start], here if kind == "code" else blank]
        prose += [gap, here.replace('"""', "   ") if kind == "comment" else blank]
        strings += [gap, here if kind == "string" else blank]
        at = end
    return Parts("".join([*code, text[at:]]), "".join(prose), "".join(strings))


def _kind(token: str) -> str:
    if token.startswith(("#", "//", "/*", "--")):
        return "comment"
    return "code" if len(token) == 1 else "string"  # code: a bracket


def _begins_line(text: str, at: int) -> bool:
    return text[text.rfind("\n", 0, at) + 1 : at].strip() in {"", "r"}


@pytest.fixture(scope="module")
def found(tracked: list[Path]) -> list[Place]:
    if not (ROOT / ".git").exists():
        missing("The git repository, which tells what was written from what was built,")
    return places(tracked)


def test_no_private_word_is_used(found: list[Place]) -> None:
    assert [str(place) for place in found] == []


@pytest.mark.parametrize(
    ("suffix", "text", "words"),
    [
        (".py", "class ChildWorld:\n    _door = HTTPDoor()", ["world", "door", "door"]),
        (".py", 'def mend():\n    """Return who mended it."""', ["mend", "mended"]),
        (".py", "x = 'the nursery'  # nobody was told", ["nobody", "told"]),
        (".py", "call(\n    '''the nursery''',\n)\nnobody = told", []),
        (".py", 'LIMIT = 3\n"""What somebody made a wish for, we wish."""', ["somebody", "wish"]),
        (".py", "def recommended(bearer, worldwide, bell_curves): ...", ["bell"]),
        (".py", 'open_world = 1  # "the door", hello world, an isolated world, x.bell, `mend`', []),
        (".ts", "const lens = /['\"]door/; // whoever\nshow(`the ${desk} bell`);", ["lens", "whoever"]),
        (".ts", 'notice("It was mended.", "door");', ["mended"]),
        (".lua", "local world = [[door]] --[[ the\nsieve ]] .. 'eyes' -- a bell", ["world", "sieve", "bell"]),
        (".java", 'String sight = "door"; /* strangers */', ["sight", "strangers"]),
        (".md", 'Whoever opens the door to the world is told how to mend it: "mended".', ["whoever", "mend"]),
        (".html", '<p title="Mend it">The world</p>', ["mend"]),
    ],
)  # fmt: skip
def test_a_private_word_is_found_where_it_counts(suffix: str, text: str, words: list[str]) -> None:
    assert [word for _, word, _, _ in sorted(set(found_in(text, suffix)))] == words


if __name__ == "__main__":
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    listed = places([file for name in listing.stdout.split("\0") if (file := ROOT / name).is_file()])
    print("\n".join(str(place) for place in listed))
