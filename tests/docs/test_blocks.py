"""Every code block of README and docs is valid in its language, and every command in one exists with its options."""

import ast
import json
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import lupa.lua52 as lupa
import pytest
import yaml

from docs.blocks import Block, every
from ui_mcp.viewdefs.compile import compile_viewdef

PROGRAMS = ("ui-mcp", "nlui")
FOREIGN = (
    "claude",
    "codex",
    "ssh",
    "mkdir",
    "make",
    "pip",
    "git",
    "cd",
    "npx",
    "docker",
    "chmod",
    "curl",
    "kill",
    "ln",
)


@pytest.mark.parametrize("block", every("json"), ids=str)
def test_json_parses(block: Block) -> None:
    for line in [block.code] if block.code.lstrip().startswith(("{\n", "[\n")) else block.code.splitlines():
        json.loads(line or "null")


@pytest.mark.parametrize("block", every("toml"), ids=str)
def test_toml_parses(block: Block) -> None:
    assert tomllib.loads(block.code)


@pytest.mark.parametrize("block", every("yaml"), ids=str)
def test_yaml_parses(block: Block) -> None:
    assert yaml.safe_load(block.code)


@pytest.mark.parametrize("block", every("python"), ids=str)
def test_python_compiles(block: Block) -> None:
    compile(block.code, str(block), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


@pytest.mark.parametrize("block", every("lua"), ids=str)
def test_lua_compiles(block: Block) -> None:
    compiled = lupa.LuaRuntime().eval("load")(block.code)

    assert callable(compiled[0] if isinstance(compiled, tuple) else compiled), compiled


@pytest.mark.parametrize("block", [one for one in every("html") if "<template" in one.code], ids=str)
def test_viewdefs_compile(block: Block) -> None:
    assert compile_viewdef("Any.DEFAULT", block.code)


def commands() -> list[tuple[str, ...]]:
    """Return each command of ours in a shell block, without what follows a pipe."""
    found = []
    for block in every("sh", "console"):
        for line in block.code.splitlines():
            words = shlex.split(line.removeprefix("$ "), comments=True) if line.strip() else []
            if block.language == "console" and not line.startswith("$ "):
                continue
            if words and words[0] in PROGRAMS:
                found.append(tuple(word for word in words if word not in {"|", "&", "&&"}))
    return sorted(set(found))


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_the_command_exists_with_its_options(words: tuple[str, ...]) -> None:
    program = str(Path(sys.executable).parent / words[0])

    shown = subprocess.run([program, *words[1:], "--help"], capture_output=True, text=True, timeout=60, check=False)

    assert shown.returncode == 0, shown.stderr
    for option in (word for word in words if word.startswith("--")):
        assert option.partition("=")[0] in shown.stdout, option


def test_no_shell_block_uses_a_program_nobody_has_heard_of() -> None:
    for block in every("sh"):
        for line in block.code.splitlines():
            first = line.split()[0] if line.strip() and not line.startswith(("#", " ")) else ""
            if first and "=" not in first and not first.startswith((".", "/")):
                assert first in (*PROGRAMS, *FOREIGN), f"{block}: {line}"
