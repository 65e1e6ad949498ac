"""Links in the page's head by which browsers load an app's elements while the app itself is still on its way."""

import re
from collections.abc import Iterable
from functools import lru_cache
from html import escape
from pathlib import Path

from ui_mcp.ui.sessions.session import Session
from ui_mcp.ui.viewdef_store import ViewdefStore
from ui_mcp.workspace import BUNDLE

_ELEMENTS = BUNDLE / "web" / "vendor" / "elements"
_VERSION = re.compile(r'<meta name="ui-elements" content="(\w+)"')
_ADDRESS = re.compile(r"(?:^|/)app/([^/]+)")
_IMPORT = re.compile(r"""(?:^|;)import[^;()]*?["'`]\./([\w-]+\.js)["'`]""")


def with_preloads(html: str, path: str, session: Session, viewdefs: ViewdefStore) -> str:
    """Return the page with links to the elements of the app at `path`, or of the one that was displayed last."""
    named = _ADDRESS.search(path)
    app = named[1] if named else session.displayed
    version = _VERSION.search(html)
    if version is None or not app:
        return html
    links = preloads(sorted(viewdefs.elements_of(app)), version[1])
    return html.replace("</head>", f"{links}</head>", 1)


def preloads(tags: Iterable[str], version: str, folder: Path = _ELEMENTS) -> str:
    """Return a link for every module of these elements, each under the address by which the page imports it."""
    entries = {tag: tag.removeprefix("ui-") + ".js" for tag in tags}
    shared = dict.fromkeys(name for entry in entries.values() for name in imports_of(folder / entry))
    links = [_link(f"{file}?v={version}", f' data-element="{tag}"') for tag, file in entries.items()]
    return "".join([*links, *map(_link, shared)])


def _link(name: str, more: str = "") -> str:
    # The page's own script and style come first, also where the connection is slow.
    return f'<link rel="modulepreload" fetchpriority="low" href="/vendor/elements/{escape(name)}"{more}>'


@lru_cache(maxsize=256)
def imports_of(module: Path) -> tuple[str, ...]:
    """Return the names of the modules that a built one imports, and those that these import."""
    if not module.is_file():
        return ()
    found: dict[str, None] = {}
    for name in _IMPORT.findall(module.read_text(encoding="utf-8")):
        found |= dict.fromkeys((name, *imports_of(module.with_name(name))))
    return tuple(found)
