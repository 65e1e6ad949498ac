"""Creates an app from the template: `ui-mcp new`."""

import argparse
import re
from pathlib import Path

from ui_mcp.errors import RefusedError
from ui_mcp.files import write_atomic
from ui_mcp.ui.audit import global_name
from ui_mcp.ui.installer import make_base
from ui_mcp.workspace import BUNDLE, Workspace

TEMPLATE = BUNDLE / "app"
LONGEST = 40
_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")

_TAKEN = frozenset(
    re.findall(
        r"\w+",
        """and break do else elseif end false for function goto if in local nil not or repeat return then true until
        while mcp session ui string table math os io json debug coroutine package bit32 print type error next select
        pairs ipairs require load loadstring dofile loadfile tostring tonumber pcall xpcall assert unpack rawget rawset
        rawequal rawlen setmetatable getmetatable collectgarbage main""",
    )
)
"""Names of Lua and of the engine that an app's global must not overwrite."""


def run_new(options: argparse.Namespace) -> int:
    """Write the app and print the next steps."""
    workspace = Workspace.at(options.dir)
    made = scaffold(workspace, options.app, options.title)
    print("Created:", *(workspace.name_of(file) for file in made), sep="\n  ")
    print(f"\nTo see it, ask your agent to show {options.app}, or run `ui-mcp serve` and choose it on the start page.")
    print("Edit a file while it is shown and watch the page change.")
    return 0


def scaffold(workspace: Workspace, name: str, title: str | None = None) -> list[Path]:
    """Write `apps/NAME` and return its files.

    Raises:
        RefusedError: the name is invalid, the app exists already, or it cannot be written.
        InstallError: the base directory cannot be created.
    """
    check_name(name)
    folder = workspace.apps / name
    if folder.exists() or folder.is_symlink():
        raise RefusedError(f"{folder} already exists\nChoose another name; nothing was written.", path=str(folder))
    if not workspace.contains(folder):  # apps/ may be a link
        raise RefusedError(f"{workspace.apps} leads out of the project; nothing was written")
    make_base(workspace)
    words = _words(name, title)
    made = []
    for source in sorted(file for file in TEMPLATE.rglob("*") if file.is_file()):
        target = folder / _filled(source.relative_to(TEMPLATE).as_posix(), words)
        try:
            write_atomic(target, _filled(source.read_text(encoding="utf-8"), words).encode())
        except OSError as error:
            raise RefusedError(f"Cannot write {target}: {error.strerror or error}", path=str(target)) from error
        made.append(target)
    return made


def check_name(name: str) -> None:
    """Check the name of an app.

    Raises:
        RefusedError: it is invalid; the message says what is allowed.
    """
    if len(name) > LONGEST or not _NAME.fullmatch(name):
        raise RefusedError(
            f"{name!r} cannot be the name of an app\n"
            f"Use at most {LONGEST} lower-case letters and digits with single hyphens, first a letter: week-plan."
        )
    if global_name(name) in _TAKEN:
        raise RefusedError(f"{name!r} is a reserved word of Lua or ui-mcp\nChoose another name, for example my-{name}.")


def _words(name: str, title: str | None) -> dict[str, str]:
    own = global_name(name)
    shown = " ".join((title or name.replace("-", " ").capitalize()).split())
    # The title is inserted into HTML, JSON and a Lua comment, so characters that are special there are removed.
    plain = re.sub(r'[<>&"\\{}\x00-\x1f]', "", shown) or name
    return {"name": name, "global": own, "type": own[:1].upper() + own[1:], "title": plain}


def _filled(text: str, words: dict[str, str]) -> str:
    return re.sub(r"\{\{(\w+)\}\}", lambda found: words[found[1]], text)
