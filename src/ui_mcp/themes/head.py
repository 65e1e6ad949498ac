"""The block that a page gets right after `<head>`: the theme's class before anything is painted, links, the icon."""

import json
import re
from html import escape
from urllib.parse import quote

from ui_mcp.themes.shelf import BASE, chosen_theme, theme_files, themes_of
from ui_mcp.themes.theme import Theme
from ui_mcp.workspace import Workspace

OPEN, CLOSE = "<!-- #frictionless -->", "<!-- /frictionless -->"
BLOCK = re.compile(re.escape(OPEN) + ".*?" + re.escape(CLOSE) + r"\n?", re.DOTALL)
# A script that must not wait for style sheets may stand before the block.
HEAD = re.compile(
    r"<head[^>]*>\n?(\s*<meta charset[^>]*>\s*<script data-first>.*?</script>\n?)?", re.IGNORECASE | re.DOTALL
)

# Runs before the first paint; storage may be forbidden, and then the project's choice or the system's counts.
SCRIPT = (
    "(()=>{let t;try{t=localStorage.getItem('theme')}catch{}"
    "const i=window.uiThemes=%s;if(!i.names.includes(t))t=i.chosen;"
    "t=t||(matchMedia('(prefers-color-scheme: dark)').matches?'dark':'light');"
    "const c=document.documentElement.classList;c.add('theme-'+t);if(i.dark.includes(t))c.add('sl-theme-dark');"
    "const f=i.files[t];if(f)document.write('<link rel=stylesheet href=\"'+f+'\">')})()"
)


def decorate(html: str, workspace: Workspace, session: str = "") -> str:
    """Return the page with an up-to-date block; the file it came from is never touched."""
    bare = BLOCK.sub("", html)
    return HEAD.sub(lambda head: head[0] + head_block(workspace, session), bare, count=1)


def head_block(workspace: Workspace, session: str = "") -> str:
    """Write the block for a project's themes; `session` is the number of the page's session."""
    themes = themes_of(workspace)
    base = theme_files(workspace).get(BASE)
    links = [_link(BASE, int(base.stat().st_mtime))] if base else []
    links += [_link(theme.file, theme.version, theme.name) for theme in themes]
    meta = [f'<meta name="ui-session" content="{escape(session)}">'] if session else []
    lines = [
        OPEN,
        *meta,
        f"<script>{SCRIPT % _facts(themes, chosen_theme(workspace))}</script>",
        *links,
        '<link rel="icon" id="app-favicon" href="data:,">',
        CLOSE,
    ]
    return "\n".join(lines) + "\n"


def _facts(themes: list[Theme], chosen: str) -> str:
    names = [theme.name for theme in themes]
    facts = {
        "names": names,
        "dark": [theme.name for theme in themes if theme.dark],
        "chosen": chosen if chosen in names else "",
        "files": {theme.name: _address(theme.file, theme.version) for theme in themes},
    }
    return json.dumps(facts, separators=(",", ":")).replace("<", "\\u003c")


def _link(file: str, version: int, theme: str = "") -> str:
    # Themes that are not shown load without holding the page up; the script has asked for the one that is.
    asleep = f' data-theme="{escape(theme)}" media="not all"' if theme else ""
    return f'<link rel="stylesheet" href="{_address(file, version)}"{asleep}>'


def _address(file: str, version: int) -> str:
    return f"/themes/{quote(file)}?v={version}"
