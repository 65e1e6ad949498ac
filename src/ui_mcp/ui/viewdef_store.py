"""Viewdefs by key, and the files that they come from."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from operator import attrgetter
from pathlib import Path

from ui_mcp.errors import ViewdefError, hint
from ui_mcp.file_watcher import SavedFile
from ui_mcp.files import LinkError, free_backup_name, write_atomic
from ui_mcp.jsontypes import Json, JsonObject, dumps
from ui_mcp.log import logger
from ui_mcp.lua_runtime.permissions import Permissions, inside
from ui_mcp.ui.components import Component, component_key, component_tag, custom_tags, expand, read_component
from ui_mcp.ui.elements import elements_in
from ui_mcp.ui.viewdef_compiler import Binding, Viewdef, checked_key, compile_viewdef
from ui_mcp.ui.viewdef_names import unknown_names
from ui_mcp.workspace import BUNDLE, Workspace

BUILTIN = {
    "lua.ViewList.DEFAULT": (
        '<template><div class="view-list"><div ui-viewlist="items" ui-namespace="list-item"></div></div></template>'
    ),
    "lua.ViewListItem.list-item": '<template><div ui-view="item"></div></template>',
    "MCP.DEFAULT": '<template><div ui-view="value"></div></template>',
}

_Placed = tuple[Path, str | None]
"""A file, and the app that it belongs to."""

_AS_ROW = attrgetter(*(field.name for field in fields(Binding)))


class ViewdefStore:
    def __init__(
        self, builtin: Mapping[str, str] = BUILTIN, refusal: Callable[[Path], str | None] = lambda _: None
    ) -> None:
        """Create a store; it skips files for which `refusal` returns a reason."""
        self._refusal = refusal
        self._viewdefs: dict[str, Viewdef] = {}
        self._apps: dict[str, str] = {}
        """Key → the app that its viewdef belongs to."""
        self._components: dict[str, Component] = {}
        self._custom_tags: dict[str, frozenset[str]] = {}
        """Key → the tags in its file that may be those of components."""
        self.problems: dict[str, str] = {}
        """Key → why its file could not be used."""
        for key, html in builtin.items():
            self._register(key, html)

    def __contains__(self, key: str) -> bool:
        return key in self._viewdefs

    def __iter__(self) -> Iterator[Viewdef]:
        return iter(self._viewdefs.values())

    def get(self, key: str) -> Viewdef | None:
        return self._viewdefs.get(key)

    def read_from(self, key: str) -> Viewdef | Component | None:
        """Return what the file of a key was read as."""
        return self._components.get(key) or self._viewdefs.get(key)

    def using(self, components: Iterable[str]) -> frozenset[str]:
        """Return the keys of the viewdefs in which components have a tag, also by way of other components."""
        found: frozenset[str] = frozenset()
        while True:
            tags = {tag for tag in map(component_tag, (*components, *found)) if tag}
            more = frozenset(key for key, used in self._custom_tags.items() if used & tags)
            if more <= found:
                return found
            found |= more

    def put(self, type_name: str, namespace: str, content: str, app: str | None = None) -> str:
        """Register a viewdef of `app` given as text, and return its key.

        Raises:
            ViewdefError: the names or the content are invalid; nothing changed.
        """
        key = checked_key(type_name, namespace)
        self._register(key, content, app)
        return key

    def read(self, key: str, file: Path, app: str | None = None) -> bool:
        """Read one file of `app`; if it is invalid, keep the old viewdef, record the problem and return False."""
        refused = self._refusal(file)
        if refused is not None:
            self.problems[key] = f"{file.name}: {refused}"
            return False
        try:
            self._register(key, file.read_text(encoding="utf-8", errors="replace"), app)
        except (OSError, ViewdefError) as error:
            self.problems[key] = f"{file.name}: {error}"
            return False
        if key in self._viewdefs:
            self._own(key, app)
        return True

    def _own(self, key: str, app: str | None) -> None:
        for one in self._viewdefs[key].whole():
            self._apps.pop(one.key, None)
            if app is not None:
                self._apps[one.key] = app

    def bundle(self, keys: Iterable[str] | None = None) -> str:
        """Return viewdefs as JSON text for a worker: key → [html, bindings, app], or false for one that is gone."""
        named = [key for key in (self._viewdefs if keys is None else keys) if component_tag(key) is None]
        chosen = {key: self._viewdefs.get(key) for key in named}
        found = [one for viewdef in chosen.values() if viewdef for one in viewdef.whole()]
        whole = {one.key: [*_as_rows(one), self._apps.get(one.key)] for one in found}
        return dumps({**dict.fromkeys(chosen, False), **whole})

    def elements_of(self, app: str) -> frozenset[str]:
        """Return the tags of our elements in the viewdefs of an app."""
        found = (viewdef.html for key, viewdef in self._viewdefs.items() if self._apps.get(key) == app)
        return frozenset(tag for html in found for tag in elements_in(html))

    def forget(self, key: str) -> None:
        """Drop a viewdef whose file is gone; the built-in one, if any, is used again."""
        self.problems.pop(key, None)
        self._viewdefs.pop(key, None)
        self._components.pop(key, None)
        self._custom_tags.pop(key, None)
        self._apps.pop(key, None)
        if key in BUILTIN:
            self._register(key, BUILTIN[key])

    def _register(self, key: str, content: str, app: str | None = None) -> None:
        tag = component_tag(key)
        self._custom_tags[key] = custom_tags(content)  # also of an invalid one, which a component may make valid
        if tag is not None:
            self._components[key] = read_component(tag, content)
        else:
            viewdef = compile_viewdef(key, expand(content, lambda name: self._component(name, app)))
            self._viewdefs.update({one.key: one for one in viewdef.whole()})
        self.problems.pop(key, None)

    def _component(self, tag: str, app: str | None) -> Component | None:
        """Return the component of a tag; one of the viewdef's own app comes first."""
        own = self._components.get(component_key(tag, app)) if app else None
        return own or self._components.get(component_key(tag))


def _components_first(placed: dict[str, _Placed]) -> dict[str, _Placed]:
    return dict(sorted(placed.items(), key=lambda one: component_tag(one[0]) is None))


def _as_rows(viewdef: Viewdef) -> list[Json]:
    return [viewdef.html, [_AS_ROW(binding) for binding in viewdef.bindings]]


def key_of(file: Path) -> str:
    """Return the key of a viewdef file: its name without `.html`."""
    return file.name.removesuffix(".html")


def _content_of(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


def html_files(folder: Path) -> Iterator[Path]:
    """Yield the viewdef files below a folder by name, following links to files."""
    yield from sorted((file for file in folder.rglob("*.html") if file.is_file()), key=lambda file: file.name)


_log = logger("viewdefs")
BUNDLED = BUNDLE / "base" / "viewdefs"


@dataclass(frozen=True, slots=True)
class Reloaded:
    """Result of reading saved files: the text for workers, or None if nothing changed; valid and invalid files."""

    bundle: str | None
    good: list[str]
    problems: list[JsonObject]


@dataclass(frozen=True, slots=True)
class Uploaded:
    """Result of an upload: the text for workers, and a note on saving it, or empty text."""

    bundle: str
    note: str


class ViewdefFiles:
    """The viewdefs of a workspace: files of `viewdefs/` override those of apps, and these the bundled ones.

    Where several apps have a file of one name, each is also known as `APP.NAME`; so is every component of an app.
    """

    def __init__(self, workspace: Workspace, permissions: Permissions | None = None) -> None:
        self._workspace = workspace
        self._permissions = permissions
        self.store = ViewdefStore(refusal=self._refusal)
        self._uploaded: dict[str, bytes] = {}
        self._unsaved: dict[str, bytes] = {}
        """Key of an upload that could not be written → the text of its file at that time; other text counts again."""
        self._read: dict[str, Path] = {}
        """Key → the file that its viewdef came from."""

    def load(self) -> None:
        """Read all files and log the problems."""
        for key, placed in _components_first(self._placed()).items():
            self._take(key, placed)
        for problem in self.store.problems.values():
            _log.warning("viewdef %s", problem)

    def find(self, key: str) -> str | None:
        """Return a viewdef as JSON text for a worker, reading a file that was not noticed yet; None without one."""
        placed = self._placed()
        found = [one for one in placed if one == key or one.partition(".")[2] == key]
        for one in found:
            if one not in self.store:
                self._take(one, placed[one])
        known = [one for one in {key, *found} if one in self.store]
        return self.store.bundle(known) if known else None

    def file_of(self, key: str) -> Path | None:
        """Return the file that a viewdef was read from."""
        return self._read.get(key)

    def bundle(self) -> str:
        """Return all viewdefs as JSON text for a worker."""
        return self.store.bundle()

    def unknown_names(self, key: str) -> list[JsonObject]:
        """Return the tags, attributes and icons of a viewdef's file that do not exist, as problems of its app."""
        file = self._read.get(key)
        if file is None or not file.is_relative_to(self._workspace.base):
            return []
        name, app = file.relative_to(self._workspace.base).as_posix(), self._app_of(file)
        text = file.read_text(encoding="utf-8", errors="replace")
        return [
            {"id": f"{one.line} {one.shown}", "kind": one.kind, "level": "warning", "message": one.text, "app": app}
            | {"file": name, "line": one.line, "hint": one.hint or None}
            for one in unknown_names(text, self._workspace.html / "icons")
        ]

    def upload(self, key: str, content: str) -> Uploaded:
        """Register `content` and save it; a file that it replaces is kept as `FILE.bak`.

        Raises:
            ViewdefError: it cannot be compiled; nothing has changed.
        """
        type_name, _, namespace = key.rpartition(".")
        compile_viewdef(checked_key(type_name, namespace), content)
        notes = self._save(key, content.encode())
        self.store.put(type_name, namespace, content, self._app_of(self._file_for(key)))
        users = self.store.using([key])
        for one, placed in self._placed().items():
            if one in users:
                self._take(one, placed)
        return Uploaded(self.store.bundle([key, *users]), notes)

    def _save(self, key: str, content: bytes) -> str:
        """Write a viewdef; return what the person should know. It is in use even if it cannot be written."""
        file = self._file_for(key)
        try:
            real = self._real_file(key)
            note = self._keep(key, real, content)
            write_atomic(real, content)
        except OSError as error:
            _log.warning("viewdef %s is in use but not saved: %s", key, error)
            way_out = "" if isinstance(error, LinkError) else hint(error)  # the reason says what to do about a link
            reason = f"cannot write {file} ({error.strerror or error}){way_out}"
            self._unsaved[key] = _content_of(file)
            return f"In use until the server ends, but not saved: {reason}"
        self._unsaved.pop(key, None)
        self._uploaded[key] = content
        return note

    def _keep(self, key: str, file: Path, content: bytes) -> str:
        """Keep a copy of a file that is about to be replaced, unless its text came by an upload too."""
        before = file.read_bytes() if file.is_file() else content
        if before in (content, self._uploaded.get(key)):
            return ""
        write_atomic(kept := free_backup_name(file), before)
        return f"The earlier text is kept as {self._workspace.name_of(kept)}"

    def reload(self, files: Iterable[SavedFile]) -> Reloaded:
        """Read saved files again; those that another file overrides change nothing, deleted ones are dropped."""
        saved = {Path(os.path.realpath(file.path)) for file in files}
        placed = self._placed()
        read = {key: file for key, (file, _) in placed.items() if self._read.get(key) == file}
        again = {key for key in placed if key not in read or Path(os.path.realpath(read[key])) in saved}
        changed = self._dropped(placed)
        again |= self.store.using({*again, *changed}) & placed.keys()
        again -= {key for key in again & self._unsaved.keys() if _content_of(placed[key][0]) == self._unsaved[key]}
        good: list[str] = []
        problems: list[JsonObject] = []
        for key, (file, app) in _components_first({key: placed[key] for key in placed if key in again}).items():
            before = self.store.read_from(key)
            if not self._take(key, (file, app)):
                problems.append({"file": str(file), "message": self.store.problems[key]})
                continue
            good.append(str(file))
            if self.store.read_from(key) != before:
                changed.append(key)
        return Reloaded(self.store.bundle(changed) if changed else None, good, problems)

    def _take(self, key: str, placed: _Placed) -> bool:
        file, app = placed
        self._read[key] = file
        return self.store.read(key, file, app)

    def _dropped(self, placed: Mapping[str, object]) -> list[str]:
        """Forget viewdefs whose last file was deleted, and return their keys."""
        gone = sorted(self._read.keys() - placed.keys())
        for key in gone:
            del self._read[key]
            self.store.forget(key)
        return gone

    def _placed(self) -> dict[str, _Placed]:
        """Return every key with its file and the app that it belongs to."""
        winners: dict[str, _Placed] = {}
        of_apps: dict[str, dict[str, Path]] = {}
        for folder in self._folders():
            for file in html_files(folder):
                app = self._app_of(file)
                winners.setdefault(key_of(file), (file, app))
                if app is not None:
                    of_apps.setdefault(key_of(file), {}).setdefault(app, file)
        shared = {key: files for key, files in of_apps.items() if len(files) > 1 or component_tag(key)}
        own = {f"{app}.{key}": (file, app) for key, files in shared.items() for app, file in files.items()}
        return {**winners, **{key: placed for key, placed in own.items() if key not in winners}}

    def _app_of(self, file: Path) -> str | None:
        """Return the app that a file belongs to, also if a link in `viewdefs/` leads to it."""
        for path in (file, Path(os.path.realpath(file))):
            for apps in (self._workspace.apps, Path(os.path.realpath(self._workspace.apps))):
                if path.is_relative_to(apps):
                    return path.relative_to(apps).parts[0]
        return None

    def _refusal(self, file: Path) -> str | None:
        """Return why a file may not be read: a link may only lead to files that apps may read themselves."""
        real = os.path.realpath(file)
        if self._permissions is None or inside(real, os.path.realpath(BUNDLED)):
            return None
        refused = self._permissions.refusal_to_load(real, str(file))
        return refused.message if refused else None

    def _file_for(self, key: str) -> Path:
        own = self._workspace.base
        existing = self._existing(key)
        return existing if existing and existing.is_relative_to(own) else self._workspace.viewdefs / f"{key}.html"

    def _real_file(self, key: str) -> Path:
        """Return where a viewdef is saved; links are followed only to viewdefs of this base directory."""
        file = self._file_for(key)
        real = Path(os.path.realpath(file))
        ours = real.is_relative_to(self._workspace.base) and real.parent.name == "viewdefs" and real.suffix == ".html"
        if not ours:
            raise LinkError(file)
        return real

    def _existing(self, key: str) -> Path | None:
        placed = self._placed().get(key)
        return placed[0] if placed else None

    def _folders(self) -> list[Path]:
        apps = sorted(self._workspace.apps.glob("*/viewdefs"))
        return [self._workspace.viewdefs, *apps, BUNDLED]
