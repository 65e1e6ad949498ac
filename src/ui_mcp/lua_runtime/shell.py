"""Emulates the commands by which apps list and arrange files, within their permissions and without a process."""

import binascii
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from ui_mcp.lua_runtime.files import Files
from ui_mcp.lua_runtime.permissions import inside
from ui_mcp.lua_runtime.shell_syntax import (
    STATUS,
    Command,
    Step,
    UnsupportedError,
    Word,
    leading_count,
    parse,
    search_tests,
    split_options,
)

MAX_FOUND = 20_000
"""Names that one command lists."""


class Result(NamedTuple):
    status: int = 0
    output: bytes = b""
    problem: str = ""


OK = Result()


def _lines(names: Sequence[str]) -> bytes:
    return "".join(f"{name}\n" for name in names).encode("utf-8", "surrogateescape")


class Emulator:
    """Runs command lines for one Lua VM; `alias` publishes a file or directory under a path below `html/`."""

    def __init__(self, files: Files, alias: Callable[[str, str], None]) -> None:
        self._files = files
        self._permissions = files.permissions
        self._alias = alias
        self._links: dict[str, str] = {}
        self._folder = self._permissions.project

    def run(self, text: str) -> tuple[bytes, int] | None:
        """Return output and exit status, or None if a process is needed; then nothing has been done."""
        try:
            steps = parse(text, self._permissions.environment)
            self._check(steps)
        except UnsupportedError:
            return None
        self._folder = self._permissions.project
        output, status = b"", 0
        for step in steps:
            if (step.operator == "&&" and status) or (step.operator == "||" and not status):
                continue
            status, written = self._pipeline(step.commands, status)
            output += written
        return output, status

    def _check(self, steps: Sequence[Step]) -> None:
        """Refuse the whole line before any of it is done."""
        for command in (command for step in steps for command in step.commands):
            name, *arguments = ("".join(part.text for part in word) for word in command.words)
            if name not in COMMANDS:
                raise UnsupportedError
            known = COMMANDS[name].options
            if known is not None:
                split_options(arguments, known)
            if name == "find":
                search_tests(arguments)

    def _pipeline(self, commands: Sequence[Command], status: int) -> tuple[int, bytes]:
        data = b""
        result = OK
        for command in commands:
            words = [word for part in command.words for word in self._expanded(part, status)]
            if command.source is not None:
                data = self._files.read(self._path(_text(command.source, status))) or b""
            result = COMMANDS[words[0]].run(self, words[1:], data)
            data = result.output + (f"{result.problem}\n".encode() if result.problem and command.merged else b"")
            if command.target is not None:
                data, result = b"", self._redirected(command, data, result, status)
        return result.status, data

    def _redirected(self, command: Command, data: bytes, result: Result, status: int) -> Result:
        target = _text(command.target or (), status)
        if target == "/dev/null":
            return result
        written = self._files.write(self._path(target), data, append=command.append)
        return result if written else Result(1)

    def _expanded(self, word: Word, status: int) -> list[str]:
        """Return the words that a word stands for: file names, if it has an unquoted pattern that matches some."""
        if not any(not part.quoted and part.text in "*?[" for part in word if part.text):
            return [_text(word, status)]
        pattern = "".join(_escaped(part.text) if part.quoted else part.text for part in word)
        return sorted(self._matches(pattern)) or [_text(word, status)]

    def _matches(self, pattern: str) -> Iterator[str]:
        rooted, names = pattern.startswith("/"), [name for name in pattern.split("/") if name]
        found = ["/" if rooted else ""]
        for name in names:
            found = [path + one for path in found for one in self._names(path, name)]
            found = [f"{path}/" for path in found]
        for path in found:
            only_folder = pattern.endswith("/")
            if only_folder and self._files.is_folder(self._path(path)):
                yield path
            elif not only_folder and self._files.exists(self._path(path.rstrip("/"))):
                yield path.rstrip("/")

    def _names(self, folder: str, pattern: str) -> list[str]:
        if not any(sign in pattern.replace("[*]", "").replace("[?]", "").replace("[[]", "") for sign in "*?["):
            return [
                pattern.replace("[*]", "*").replace("[?]", "?").replace("[[]", "[")
            ]  # whether it exists is seen later
        names = self._files.names(self._path(folder or ".")) or []
        return [name for name in names if fnmatchcase(name, pattern) and (pattern[0] == "." or name[0] != ".")]

    def _path(self, path: str) -> str:
        return os.path.join(self._folder, path)

    def cd(self, arguments: Sequence[str], _data: bytes) -> Result:
        path = self._path(arguments[0]) if arguments else self._permissions.project
        if not self._files.is_folder(path):
            return Result(1, problem=f"cd: {path}: No such directory")
        self._folder = self._permissions.real(path)
        return OK

    def ls(self, arguments: Sequence[str], _data: bytes) -> Result:
        options, paths = split_options(arguments, "1adAtrpF")
        names: list[str] = []
        folders: list[str] = []
        missing = ""
        for path in paths or ["."]:
            if not self._files.exists(self._path(path)):
                missing = f"ls: cannot access '{path}': No such file or directory"
            elif "d" in options or not self._files.is_folder(self._path(path)):
                names.append(path)
            else:
                folders.append(path)
        output = _lines(self._ordered(names, "", options))
        for number, folder in enumerate(self._ordered(folders, "", options)):
            listed = self._ordered(self._visible(folder, options), folder, options)
            heading = "\n" * bool(number or names) + f"{folder}:\n" if len(names) + len(folders) > 1 else ""
            output += heading.encode("utf-8", "surrogateescape") + _lines(listed)
        return Result(2 if missing else 0, output, missing)

    def _visible(self, folder: str, options: frozenset[str]) -> list[str]:
        names = self._files.names(self._path(folder)) or []
        extra = [".", ".."] if "a" in options else []
        return extra + [name for name in names if name[0] != "." or options & {"a", "A"}]

    def _ordered(self, names: list[str], folder: str, options: frozenset[str]) -> list[str]:
        def path(name: str) -> str:
            return self._path(os.path.join(folder, name))

        if "t" in options:
            ordered = sorted(sorted(names), key=lambda name: -self._files.modified(path(name)))
        else:
            ordered = sorted(names)
        ordered = ordered[::-1] if "r" in options else ordered
        marked = options & {"p", "F"}
        return [f"{name}/" if marked and self._files.is_folder(path(name)) else name for name in ordered]

    def find(self, arguments: Sequence[str], _data: bytes) -> Result:
        starts, tests = search_tests(arguments)
        depths = int(tests.get("-mindepth", "0")), int(tests.get("-maxdepth", "100"))
        found = [
            path
            for start in starts
            for depth, path in self._below(start, 0, depths[1])
            if depth >= depths[0] and self._passes(path, tests)
        ]
        return Result(0, _lines(found[:MAX_FOUND]))

    def _below(self, path: str, depth: int, deepest: int) -> Iterator[tuple[int, str]]:
        if not self._files.exists(self._path(path)):
            return
        yield depth, path
        real = self._path(path)
        if depth < deepest and self._files.is_folder(real) and not os.path.islink(real):
            for name in sorted(self._files.names(real) or []):
                yield from self._below(os.path.join(path, name), depth + 1, deepest)

    def _passes(self, path: str, tests: dict[str, str]) -> bool:
        name, kind = os.path.basename(path.rstrip("/")), tests.get("-type", "")
        if "-name" in tests and not fnmatchcase(name, tests["-name"]):
            return False
        if "-iname" in tests and not fnmatchcase(name.lower(), tests["-iname"].lower()):
            return False
        return not kind or self._files.is_folder(self._path(path)) == (kind == "d")

    def test(self, arguments: Sequence[str], _data: bytes) -> Result:
        words = list(arguments)
        if words and words[-1] == "]":
            words.pop()
        negated = bool(words) and words[0] == "!"
        holds = self._holds(words[1:] if negated else words)
        return Result(0 if holds != negated else 1)

    def _holds(self, words: Sequence[str]) -> bool:
        match words:
            case ["-n", text] | [text]:
                return text != ""
            case ["-z", text]:
                return text == ""
            case ["-d", path]:
                return self._files.is_folder(self._path(path))
            case ["-f", path]:
                return self._files.exists(self._path(path)) and not self._files.is_folder(self._path(path))
            case ["-e" | "-r", path]:
                return self._files.exists(self._path(path))
            case ["-s", path]:
                return bool(self._files.read(self._path(path)))
            case ["-L" | "-h", path]:
                return self._target(path) is not None
            case [left, "=" | "==", right]:
                return left == right
            case [left, "!=", right]:
                return left != right
        return False

    def mkdir(self, arguments: Sequence[str], _data: bytes) -> Result:
        options, paths = split_options(arguments, "p")
        return self._each(paths, lambda path: self._files.make_folder(self._path(path), parents="p" in options))

    def rm(self, arguments: Sequence[str], _data: bytes) -> Result:
        options, paths = split_options(arguments, "rRf")
        present = [path for path in paths if self._files.lexists(self._path(path))]
        if len(present) < len(paths) and "f" not in options:
            return Result(1, problem="rm: No such file or directory")
        whole = bool(options & {"r", "R"})
        return self._each(present, lambda path: self._files.delete(self._path(path), whole=whole))

    def mv(self, arguments: Sequence[str], _data: bytes) -> Result:
        _, paths = split_options(arguments, "f")
        if len(paths) < 2:
            return Result(1, problem="mv: missing file operand")
        *sources, target = paths
        into = self._files.is_folder(self._path(target))

        def move(path: str) -> bool:
            name = os.path.join(target, os.path.basename(path.rstrip("/"))) if into else target
            return self._files.rename(self._path(path), self._path(name)) is True

        return self._each(sources, move)

    def touch(self, arguments: Sequence[str], _data: bytes) -> Result:
        return self._each(arguments, lambda path: self._files.write(self._path(path), b"", append=True))

    def readlink(self, arguments: Sequence[str], _data: bytes) -> Result:
        options, paths = split_options(arguments, "fn")
        path = paths[0] if paths else ""
        target = self._permissions.real(self._path(path)) if "f" in options else self._target(path)
        return Result(0, _lines([target])) if target is not None else Result(1)

    def _target(self, path: str) -> str | None:
        entry = self._permissions.entry(self._path(path))
        return self._links.get(entry) or self._files.link_target(entry)

    def ln(self, arguments: Sequence[str], _data: bytes) -> Result:
        """Serve what a link in `html/` would lead to; a link to a viewdef of an app is not needed."""
        options, paths = split_options(arguments, "sfn")
        if len(paths) != 2 or "s" not in options:
            return Result(1, problem="ln: only `ln -s TARGET LINK` is possible here")
        target, link = paths
        entry = self._permissions.entry(self._path(link))
        base = self._permissions.base
        real = self._permissions.real(os.path.join(os.path.dirname(entry), target))
        in_html = inside(entry, os.path.join(base, "html"))
        if in_html and inside(real, base) and self._files.may("read", real, target):
            self._links[entry] = target
            self._alias(os.path.relpath(entry, os.path.join(base, "html")), real)
            return OK
        known = inside(entry, os.path.join(base, "viewdefs")) and inside(real, os.path.join(base, "apps"))
        if known or not self._files.may("write", entry, link):
            return OK if known else Result(1)
        return Result(1, problem="ln: links are made only in html/")

    def base64(self, arguments: Sequence[str], data: bytes) -> Result:
        options, paths = split_options(arguments, "dDw0")
        data = self._joined(paths, data)
        if not options & {"d", "D"}:
            return Result(0, binascii.b2a_base64(data))
        try:
            return Result(0, binascii.a2b_base64(data))
        except binascii.Error as error:
            return Result(1, problem=f"base64: {error}")

    def cat(self, arguments: Sequence[str], data: bytes) -> Result:
        return Result(0, self._joined(arguments, data))

    def head(self, arguments: Sequence[str], data: bytes) -> Result:
        count, paths = leading_count(arguments)
        return Result(0, b"".join(self._joined(paths, data).splitlines(keepends=True)[:count]))

    def tail(self, arguments: Sequence[str], data: bytes) -> Result:
        count, paths = leading_count(arguments)
        return Result(0, b"".join(self._joined(paths, data).splitlines(keepends=True)[-count:] if count else []))

    def sort(self, arguments: Sequence[str], data: bytes) -> Result:
        options, paths = split_options(arguments, "ru")
        rows = sorted(self._joined(paths, data).splitlines())
        rows = list(dict.fromkeys(rows)) if "u" in options else rows
        return Result(0, b"".join(row + b"\n" for row in (rows[::-1] if "r" in options else rows)))

    def wc(self, arguments: Sequence[str], data: bytes) -> Result:
        options, paths = split_options(arguments, "lc")
        text = self._joined(paths, data)
        return Result(0, f"{len(text) if 'c' in options else text.count(bytes([10]))}\n".encode())

    def echo(self, arguments: Sequence[str], _data: bytes) -> Result:
        bare = list(arguments[:1]) == ["-n"]
        return Result(0, " ".join(arguments[bare:]).encode() + (b"" if bare else b"\n"))

    def pwd(self, _arguments: Sequence[str], _data: bytes) -> Result:
        return Result(0, _lines([self._folder]))

    def uname(self, arguments: Sequence[str], _data: bytes) -> Result:
        options, _ = split_options(arguments, "sm")
        facts = os.uname() if hasattr(os, "uname") else None
        system, machine = (facts.sysname, facts.machine) if facts else (sys.platform, "")
        return Result(0, _lines([machine if "m" in options else system]))

    def _joined(self, paths: Sequence[str], data: bytes) -> bytes:
        return b"".join(self._files.read(self._path(path)) or b"" for path in paths) if paths else data

    def _each(self, paths: Sequence[str], act: Callable[[str], bool]) -> Result:
        failed = [path for path in paths if not act(path)]
        return Result(1) if failed else OK


def _text(word: Word, status: int) -> str:
    return "".join(part.text for part in word).replace(STATUS, str(status))


def _escaped(text: str) -> str:
    return text.replace("[", "[[]").replace("*", "[*]").replace("?", "[?]")


class _Known(NamedTuple):
    run: Callable[[Emulator, Sequence[str], bytes], Result]
    options: str | None = None
    """Letters of its options, which are checked before anything runs; None if its arguments have another form."""


COMMANDS: dict[str, _Known] = {
    "ls": _Known(Emulator.ls, "1adAtrpF"),
    "find": _Known(Emulator.find),
    "test": _Known(Emulator.test),
    "[": _Known(Emulator.test),
    "mkdir": _Known(Emulator.mkdir, "p"),
    "rm": _Known(Emulator.rm, "rRf"),
    "mv": _Known(Emulator.mv, "f"),
    "touch": _Known(Emulator.touch, ""),
    "readlink": _Known(Emulator.readlink, "fn"),
    "ln": _Known(Emulator.ln, "sfn"),
    "base64": _Known(Emulator.base64, "dDw0"),
    "cat": _Known(Emulator.cat, ""),
    "head": _Known(Emulator.head),
    "tail": _Known(Emulator.tail),
    "sort": _Known(Emulator.sort, "ru"),
    "wc": _Known(Emulator.wc, "lc"),
    "echo": _Known(Emulator.echo),
    "pwd": _Known(Emulator.pwd, ""),
    "cd": _Known(Emulator.cd, ""),
    "uname": _Known(Emulator.uname, "sm"),
    "true": _Known(lambda _emulator, _arguments, _data: OK),
    "false": _Known(lambda _emulator, _arguments, _data: Result(1)),
}
"""What is emulated; other programs need `lua.permissions.exec`."""
