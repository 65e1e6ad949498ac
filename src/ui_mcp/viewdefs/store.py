"""All viewdefs of a project: files of `viewdefs/`, then of the apps, then those that come with the program."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from operator import attrgetter
from pathlib import Path

from ui_mcp.errors import ViewdefError
from ui_mcp.jsontypes import dumps
from ui_mcp.ui.viewdef_compiler import compile_viewdef
from ui_mcp.viewdefs.builtin import BUILTIN
from ui_mcp.viewdefs.viewdef import Binding, Viewdef, checked_key

_AS_ROW = attrgetter(*(field.name for field in fields(Binding)))


class ViewdefStore:
    """Compiled viewdefs by key."""

    def __init__(
        self, builtin: Mapping[str, str] = BUILTIN, why_not: Callable[[Path], str | None] = lambda _: None
    ) -> None:
        """Make a store that refuses files for which `why_not` has a reason."""
        self._why_not = why_not
        self._viewdefs = {key: compile_viewdef(key, html) for key, html in builtin.items()}
        self.problems: dict[str, str] = {}
        """Why a file of this key could not be used."""

    def __contains__(self, key: str) -> bool:
        return key in self._viewdefs

    def __iter__(self) -> Iterator[Viewdef]:
        return iter(self._viewdefs.values())

    def get(self, key: str) -> Viewdef | None:
        """Return the viewdef of exactly this key."""
        return self._viewdefs.get(key)

    def put(self, type_name: str, namespace: str, content: str) -> Viewdef:
        """Register a viewdef given as text.

        Raises:
            ViewdefError: the names or the content are wrong; nothing changed.
        """
        return self._keep(checked_key(type_name, namespace), content)

    def load(self, *folders: Path) -> list[str]:
        """Read every `*.html` below the folders; the first file of a name wins. Returns the keys read."""
        files: dict[str, Path] = {}
        for folder in folders:
            for file in html_files(folder):
                files.setdefault(key_of(file), file)
        return [key for key, file in files.items() if self.read(file) == key]

    def read(self, file: Path) -> str | None:
        """Read one file again; None, and a problem noted, when it cannot be used (the old one stays)."""
        key = key_of(file)
        refused = self._why_not(file)
        if refused is not None:
            self.problems[key] = f"{file.name}: {refused}"
            return None
        try:
            self._keep(key, file.read_text(encoding="utf-8", errors="replace"))
        except (OSError, ViewdefError) as error:
            self.problems[key] = f"{file.name}: {error}"
            return None
        return key

    def bundle(self, keys: Iterable[str] | None = None) -> str:
        """Write viewdefs as the text a Lua world takes: key → [html, bindings]."""
        chosen = self._viewdefs if keys is None else {key: self._viewdefs[key] for key in keys}
        return dumps(
            {key: [viewdef.html, [_AS_ROW(binding) for binding in viewdef.bindings]] for key, viewdef in chosen.items()}
        )

    def _keep(self, key: str, content: str) -> Viewdef:
        viewdef = compile_viewdef(key, content)
        self._viewdefs[key] = viewdef
        self.problems.pop(key, None)
        return viewdef


def key_of(file: Path) -> str:
    """Name the viewdef a file holds: its base name without `.html`."""
    return file.name.removesuffix(".html")


def html_files(folder: Path) -> Iterator[Path]:
    """Yield the viewdef files below a folder by name, following links to files."""
    yield from sorted((file for file in folder.rglob("*.html") if file.is_file()), key=lambda file: file.name)
