"""Creates apps: from the template, or as a text that an agent builds from."""

import re
from pathlib import Path

from ui_mcp.errors import RefusedError
from ui_mcp.files import write_atomic
from ui_mcp.ui.audit import global_name
from ui_mcp.ui.base_dir.installer import make_base
from ui_mcp.workspace import BUNDLE, Workspace

LIST = "list"
TEMPLATES = {LIST: BUNDLE / "app"} | {folder.name: folder for folder in sorted((BUNDLE / "templates").glob("*"))}
"""What an app can start from, by name; a directory in `bundle/templates/` is one more."""
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


def scaffold(workspace: Workspace, name: str, title: str | None = None, template: str = LIST) -> list[Path]:
    """Write `apps/NAME` from a template and return its files.

    Raises:
        RefusedError: the name is invalid, there is no such template, the app exists already, or it cannot be written.
        InstallError: the base directory cannot be created.
    """
    start = TEMPLATES.get(template)
    if start is None:
        raise RefusedError(f"There is no template {template!r}\nTemplates: {', '.join(TEMPLATES)}.")
    folder = _free_folder(workspace, name)
    words = _words(name, title)
    return [
        _written(
            folder / _filled(source.relative_to(start).as_posix(), words),
            _filled(source.read_text(encoding="utf-8"), words),
        )
        for source in sorted(file for file in start.rglob("*") if file.is_file())
    ]


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


def plan(workspace: Workspace, name: str, about: str) -> Path:
    """Write `apps/NAME/requirements.md`, from which an agent builds the app, and return the file.

    Raises:
        RefusedError: the name is invalid, the app exists already, or it cannot be written.
        InstallError: the base directory cannot be created.
    """
    folder = _free_folder(workspace, name)
    text = f"# {name.replace('-', ' ').capitalize()}\n\n{about.strip()}\n"
    return _written(folder / "requirements.md", text)


def _free_folder(workspace: Workspace, name: str) -> Path:
    check_name(name)
    folder = workspace.apps / name
    if folder.exists() or folder.is_symlink():
        raise RefusedError(f"{folder} already exists\nChoose another name; nothing was written.", path=str(folder))
    if not workspace.contains(folder):  # apps/ may be a link
        raise RefusedError(f"{workspace.apps} leads out of the project; nothing was written")
    make_base(workspace)
    return folder


def _written(file: Path, text: str) -> Path:
    try:
        write_atomic(file, text.encode())
    except OSError as error:
        raise RefusedError(f"Cannot write {file}: {error.strerror or error}", path=str(file)) from error
    return file


def _words(name: str, title: str | None) -> dict[str, str]:
    own = global_name(name)
    shown = " ".join((title or name.replace("-", " ").capitalize()).split())
    # The title is inserted into HTML, JSON and a Lua comment, so characters that are special there are removed.
    plain = re.sub(r'[<>&"\\{}\x00-\x1f]', "", shown) or name
    return {"name": name, "global": own, "type": own[:1].upper() + own[1:], "title": plain}


def _filled(text: str, words: dict[str, str]) -> str:
    return re.sub(r"\{\{(\w+)\}\}", lambda found: words[found[1]], text)
