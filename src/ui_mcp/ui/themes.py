"""Theme files: listing, parsing, the page's head block, class report."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from urllib.parse import quote

from ui_mcp.errors import NotFoundError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.workspace import BUNDLE, Workspace

HEADER = COMMENT = re.compile(r"/\*(.*?)\*/", re.DOTALL)
TAG = re.compile(r"^\s*\*?\s*@(\w+)\s*(.*?)\s*$")
COLOUR = re.compile(r"--term-(accent|bg)\s*:\s*([^;}]+)")
HEX = re.compile(r"#([0-9a-f]{3}|[0-9a-f]{6})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class StyleClass:
    """A class that a theme documents for app authors."""

    name: str
    description: str = ""
    usage: str = ""
    elements: str = ""

    def as_json(self) -> JsonObject:
        return {"name": self.name, "description": self.description, "usage": self.usage, "elements": self.elements}


@dataclass(frozen=True, slots=True)
class Theme:
    name: str
    file: str
    """File name in `themes/`."""
    version: int
    """Modification time, for cache busting."""
    description: str = ""
    accent: str = ""
    dark: bool = False
    classes: tuple[StyleClass, ...] = ()


def read_theme(path: Path) -> Theme:
    """Read a theme file; without a header, its name is that of the file."""
    text = path.read_text(encoding="utf-8", errors="replace")
    header = HEADER.search(text)
    lines = (header[1] if header else "").splitlines()
    tags = [(found[1], found[2]) for line in lines if (found := TAG.match(line))]
    colours = {name: value.strip() for name, value in reversed(COLOUR.findall(text))}
    before = tags[: next((at for at, (tag, _) in enumerate(tags) if tag == "class"), len(tags))]
    about = dict(before)
    return Theme(
        name=about.get("theme") or path.stem,
        file=path.name,
        version=int(path.stat().st_mtime),
        description=about.get("description", ""),
        accent=colours.get("accent", ""),
        dark=_is_dark(colours.get("bg", "")),
        classes=tuple(_classes(tags[len(before) :])),
    )


def _classes(tags: list[tuple[str, str]]) -> list[StyleClass]:
    found: list[dict[str, str]] = []
    for tag, text in tags:
        if tag == "class":
            found.append({"name": text})
        elif found and tag in {"description", "usage", "elements"}:
            found[-1][tag] = text
    return [StyleClass(**fields) for fields in found]


def _is_dark(colour: str) -> bool:
    found = HEX.search(colour)
    if not found:
        return False
    digits = found[1] if len(found[1]) == 6 else "".join(2 * digit for digit in found[1])
    red, green, blue = (int(digits[at : at + 2], 16) for at in (0, 2, 4))
    return 0.299 * red + 0.587 * green + 0.114 * blue < 128


BUNDLED = BUNDLE / "base" / "html" / "themes"
BASE = "base.css"


def theme_files(workspace: Workspace) -> dict[str, Path]:
    """Return file name → path of every style sheet, including `base.css`; project files override bundled ones."""
    folders = (BUNDLED, workspace.html / "themes")
    return {path.name: path for folder in folders if folder.is_dir() for path in sorted(folder.glob("*.css"))}


def themes_of(workspace: Workspace) -> list[Theme]:
    """Return every theme, sorted by name."""
    files = theme_files(workspace)
    return sorted((read_theme(path) for name, path in files.items() if name != BASE), key=lambda theme: theme.name)


def chosen_theme(workspace: Workspace) -> str:
    """Return the theme named in `storage/settings.json`, or an empty string."""
    try:
        settings = json.loads((workspace.storage / "settings.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    found = settings.get("theme") if isinstance(settings, dict) else None
    return found if isinstance(found, str) else ""


CLASSES = re.compile(r"""\bclass\s*=\s*(?:"([^"]*)"|'([^']*)')|\bui-class-([\w-]+)\s*=""")
IGNORED = re.compile(r"^(hidden$|showing$|sl-|ui-)")
ALL = "(all)"


def list_themes(workspace: Workspace) -> JsonObject:
    """Return the themes and the chosen one, as `ui_theme` answers."""
    themes = [
        {
            "name": theme.name,
            "description": theme.description,
            **({"accent_color": theme.accent} if theme.accent else {}),
        }
        for theme in themes_of(workspace)
    ]
    return {"themes": themes, "current": chosen_theme(workspace) or "auto"}


def list_classes(workspace: Workspace, name: str) -> JsonObject:
    """Return the documented classes of one theme, or of all, as `ui_theme` answers."""
    return {
        "theme": name or ALL,
        "classes": [found.as_json() for found in _documented(_picked(workspace, name)).values()],
    }


def audit_classes(workspace: Workspace, app: str, name: str) -> JsonObject:
    """Compare the classes that an app uses with the documented ones.

    Raises:
        NotFoundError: there is no such app or theme.
    """
    folder = workspace.apps / app
    if Path(app).name != app or app in {"", ".", ".."} or not folder.is_dir():
        raise NotFoundError(f"app {app} not found")
    documented = _documented(_picked(workspace, name))
    used = [place for file in sorted(folder.rglob("*.html")) for place in _used_in(file, folder)]
    names = {place["class"] for place in used}
    undocumented = [place for place in used if place["class"] not in documented]
    return {
        "app": app,
        "theme": name or ALL,
        "undocumented_classes": undocumented,
        "unused_theme_classes": sorted(documented.keys() - names),
        "summary": {
            "total": len(names),
            "documented": len(names & documented.keys()),
            "undocumented": len(names - documented.keys()),
        },
    }


def _picked(workspace: Workspace, name: str) -> list[Theme]:
    themes = themes_of(workspace)
    if not name:
        return themes
    found = [theme for theme in themes if theme.name == name]
    if not found:
        raise NotFoundError(f"No theme named {name!r}; there are: {', '.join(theme.name for theme in themes)}")
    return found


def _documented(themes: list[Theme]) -> dict[str, StyleClass]:
    return {found.name: found for theme in themes for found in theme.classes}


def _used_in(file: Path, folder: Path) -> Iterator[JsonObject]:
    for number, line in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        names = [name for found in CLASSES.findall(line) for name in "".join(found).split()]
        for name in names:
            if not IGNORED.match(name):
                yield {"class": name, "file": str(file.relative_to(folder)), "line": number}


OPEN, CLOSE = "<!-- #frictionless -->", "<!-- /frictionless -->"
BLOCK = re.compile(re.escape(OPEN) + ".*?" + re.escape(CLOSE) + r"\n?", re.DOTALL)

# A script that must not wait for style sheets may come before the block.
HEAD = re.compile(
    r"<head[^>]*>\n?(\s*<meta charset[^>]*>\s*<script data-first>.*?</script>\n?)?", re.IGNORECASE | re.DOTALL
)


# Runs before the first paint. If storage is blocked, the project's choice or the system's applies.
SCRIPT = (
    "(()=>{let t;try{t=localStorage.getItem('theme')}catch{}"
    "const i=window.uiThemes=%s;if(!i.names.includes(t))t=i.chosen;"
    "t=t||(matchMedia('(prefers-color-scheme: dark)').matches?'dark':'light');"
    "const c=document.documentElement.classList;c.add('theme-'+t);if(i.dark.includes(t))c.add('sl-theme-dark');"
    "for(const s of document.querySelectorAll('style[data-theme]'))if(s.dataset.theme===t)s.media='all';"
    "const f=i.files[t];if(f)document.write('<link rel=stylesheet data-theme=\"'+t+'\" href=\"'+f+'\">')})()"
)

MAX_EMBEDDED = 16 * 1024
_NEEDS_FILE = re.compile(r"@import|@charset|@namespace|url\(|</style|<!--", re.IGNORECASE)
"""What works only in a file of its own: references relative to it, and what would end the element."""


def decorate(html: str, workspace: Workspace, session: str = "", mcp_port: int = 0) -> str:
    """Return the page with a current head block; its file is not changed."""
    bare = BLOCK.sub("", html)
    return HEAD.sub(lambda head: head[0] + head_block(workspace, session, mcp_port), bare, count=1)


def head_block(workspace: Workspace, session: str = "", mcp_port: int = 0) -> str:
    """Return the head block for a project's themes; `session` is the number of the page's session.

    The page maps addresses on `mcp_port`, where apps expect the files that they linked, to its own origin.
    """
    files = theme_files(workspace)
    themes = themes_of(workspace)
    base = _base(files[BASE]) if BASE in files else []
    embedded = {theme.name: text for theme in themes if (text := _embeddable(files[theme.file])) is not None}
    linked = [theme for theme in themes if theme.name not in embedded]
    facts = {"ui-session": session, "ui-mcp-port": str(mcp_port or "")}
    meta = [f'<meta name="{name}" content="{escape(value)}">' for name, value in facts.items() if value]
    lines = [
        OPEN,
        *meta,
        *base,
        *(f'<style data-theme="{escape(name)}" media="not all">{text}</style>' for name, text in embedded.items()),
        f"<script>{SCRIPT % _theme_data(themes, linked, chosen_theme(workspace))}</script>",
        f"<noscript>{''.join(_link(theme.file, theme.version) for theme in themes)}</noscript>",
        '<link rel="icon" id="app-favicon" href="data:,">',
        CLOSE,
    ]
    return "\n".join(lines) + "\n"


def _base(file: Path) -> list[str]:
    link, text = _link(BASE, int(file.stat().st_mtime)), _embeddable(file)
    return [link] if text is None else [f"<noscript>{link}</noscript>", f"<style>{text}</style>"]


def _embeddable(file: Path) -> str | None:
    """Return a style sheet that can be a part of the page, which saves a request; None if it needs its file."""
    text = COMMENT.sub("", file.read_text(encoding="utf-8", errors="replace")).strip()
    return text if len(text) <= MAX_EMBEDDED and not _NEEDS_FILE.search(text) else None


def _theme_data(themes: list[Theme], linked: list[Theme], chosen: str) -> str:
    names = [theme.name for theme in themes]
    data = {
        "names": names,
        "dark": [theme.name for theme in themes if theme.dark],
        "chosen": chosen if chosen in names else "",
        "files": {theme.name: _address(theme.file, theme.version) for theme in linked},
    }
    # Escaped, so that a theme named "</script>" cannot end the script element.
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def _link(file: str, version: int) -> str:
    return f'<link rel="stylesheet" href="{_address(file, version)}">'


def _address(file: str, version: int) -> str:
    return f"/themes/{quote(file)}?v={version}"
