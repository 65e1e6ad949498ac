"""Completion in the shells themselves."""

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

import pytest

from cli.command import ui_mcp
from needs import missing

TRIES = {
    ("ui-mcp", "do"): {"doctor"},
    ("ui-mcp", "chat", ""): {"post", "follow", "history", "export", "backup", "restore", "stop", "resume"},
    ("ui-mcp", "chat", "--face", ""): {"human", "assistant"},
    ("ui-mcp", "completion", ""): {"bash", "zsh", "fish"},
    ("ui-mcp", "nlui", "tools", "--format", ""): {"names", "mcp", "openai"},
    ("nlui", "c"): {"check", "call"},
    ("ui-mcp", "serve", "--mcp"): {"--mcp-port"},
    ("ui-mcp", "serve", "--port", ""): set(),
}


PATHS = {
    ("ui-mcp", "serve", "--dir", "nu"): {"numbers/"},
    ("ui-mcp", "serve", "--dir", "nl"): set(),
    ("nlui", "--config", "n"): {"nlui.yaml", "numbers/"},
    ("nlui", "check", "nl"): {"nlui.yaml"},
    ("nlui", "--host", "n"): set(),
}

PATH = f"{Path(sys.executable).parent}:/usr/bin:/bin"
"""The scripts run the programs themselves, which are beside the interpreter."""


def shell(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        missing(name)
    return found


def script(name: str, folder: Path) -> Path:
    done = ui_mcp("completion", name, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    file = folder / ("_ui-mcp" if name == "zsh" else f"completion.{name}")
    file.write_text(done.stdout)
    return file


def said(*command: str, cwd: Path) -> str:
    environment = {**os.environ, "PATH": PATH}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=180, check=True)
    return done.stdout


@pytest.mark.covers("UI-CLI-12")
@pytest.mark.parametrize("words", TRIES, ids=" ".join)
def test_bash_completes(words: tuple[str, ...], tmp_path: Path) -> None:
    code = (
        f'source {script("bash", tmp_path)}; COMP_LINE="$*"; COMP_POINT=${{#COMP_LINE}}; COMP_TYPE=9; '
        '_python_argcomplete "$1"; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    assert set(said(shell("bash"), "-c", code, "bash", *words, cwd=tmp_path).split()) == TRIES[words]


@pytest.mark.covers("UI-CLI-12")
@pytest.mark.parametrize("words", TRIES, ids=" ".join)
def test_fish_completes(words: tuple[str, ...], tmp_path: Path) -> None:
    code = f"source {script('fish', tmp_path)}; complete -C {' '.join(words)!r}"
    shown = said(shell("fish"), "--no-config", "-c", code, cwd=tmp_path)

    assert {line.split("\t")[0] for line in shown.splitlines()} == TRIES[words]


@pytest.mark.covers("UI-CLI-12")
@pytest.mark.parametrize("way", ["installed", "sourced"])
def test_zsh_completes(way: str, tmp_path: Path) -> None:
    file = script("zsh", tmp_path)
    setup = f"fpath=({tmp_path} $fpath)\nautoload -U compinit; compinit -u -d {tmp_path}/dump\n"
    setup += f"source {file}\n" if way == "sourced" else ""
    (tmp_path / ".zshrc").write_text(f"PS1='%# '; LISTMAX=0\n{setup}print READY\n")

    with Terminal([shell("zsh"), "-i"], {"ZDOTDIR": str(tmp_path), "TERM": "dumb", "PATH": PATH}) as zsh:
        zsh.until("READY")
        zsh.type("ui-mcp doc\t")
        zsh.until("doctor")
        zsh.type("\x15ui-mcp chat --face assi\t")
        zsh.until("assistant")
        zsh.type("\x15nlui che\t")
        zsh.until("check")


@pytest.mark.covers("UI-CLI-12")
def test_files_and_folders_are_completed_where_they_are_meant(tmp_path: Path) -> None:
    (tmp_path / "nlui.yaml").touch()
    (tmp_path / "numbers").mkdir()

    meant = {words: set(completed(*words, cwd=tmp_path)) for words in PATHS}

    assert meant == PATHS


def completed(*words: str, cwd: Path) -> list[str]:
    """Return what a program answers to its shell."""
    line = " ".join(words)
    request = {"_ARGCOMPLETE": "1", "_ARGCOMPLETE_SUPPRESS_SPACE": "1", "_ARGCOMPLETE_IFS": "\n"}
    point = {"COMP_LINE": line, "COMP_POINT": str(len(line)), "_ARGCOMPLETE_STDOUT_FILENAME": str(cwd / ".answer")}
    subprocess.run([words[0]], cwd=cwd, env={**os.environ, "PATH": PATH, **request, **point}, timeout=180, check=True)
    return (cwd / ".answer").read_text().split()


@pytest.mark.covers("UI-CLI-12")
def test_completing_imports_no_server(tmp_path: Path) -> None:
    code = (
        "import sys; from ui_mcp.cli import entry; from ui_mcp.cli.completion import parser_of; "
        "parser_of('ui-mcp'); parser_of('nlui'); print(*sys.modules)"
    )

    loaded = said(sys.executable, "-c", code, cwd=tmp_path).split()

    unneeded = (
        "ui_mcp.app",
        "ui_mcp.gateway",
        "ui_mcp.introspection.targets",
        "ui_mcp.lua_runtime",
        "pydantic",
        "starlette",
        "yaml",
        "httpx2",
        "mcp",
    )
    assert [name for name in loaded if name.startswith(unneeded)] == []


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self._command, self._environment = command, environment
        self._seen = ""

    def __enter__(self) -> Self:
        master, slave = pty.openpty()
        self._screen = master
        self._process = subprocess.Popen(
            self._command, stdin=slave, stdout=slave, stderr=slave, env=self._environment, start_new_session=True
        )
        os.close(slave)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait(60)
        os.close(self._screen)

    def type(self, text: str) -> None:
        self._seen = ""
        os.write(self._screen, text.encode())

    def until(self, words: str) -> None:
        end = time.monotonic() + 120
        while words not in self._seen:
            ready, _, _ = select.select([self._screen], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"{words!r} did not appear in {self._seen!r}"
            self._seen += os.read(self._screen, 4096).decode(errors="replace")
