"""Static checks of an app: rules and report."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path

from ui_mcp.errors import NotFoundError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.ui.audit_sources import Binding, LuaSource, Method, Template
from ui_mcp.ui.viewdef_compiler import split_path
from ui_mcp.ui.viewdef_names import unknown_names


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One problem; `location` is `app.lua:12` or `viewdefs/FILE`."""

    location: str
    rule: str
    text: str

    def as_json(self) -> dict[str, str]:
        return {"rule": self.rule, "location": self.location, "text": self.text}

    @property
    def key(self) -> str:
        """Names the finding wherever its line has moved to."""
        return f"{self.rule} {self.location.partition(':')[0]} {self.text}"


CALLED_FROM_OUTSIDE = frozenset({"addAgentMessage", "updateRequirements", "onAppProgress", "onAppUpdated"})
_NEVER_DEAD = frozenset({"new", "mutate", "address", "visit"})
_BUTTONS = frozenset({"button", "sl-button", "sl-icon-button"})
_WITH_PATH = re.compile(r"ui-(?:value|html|code|action|view|viewlist|for|if|(?:attr|class|style|event)-.+)")
_TEXT = r"""(?:"[^"]*"|'[^']*')"""
_LITERAL = rf"(?:{_TEXT}|-?\d*\.?\d+|true|false|nil)"
_STEP = r"(?:\d+|[A-Za-z_]\w*(?:\(\))?)(?:\[\d+\])*"
_ARGUMENT = rf"(?:_|{_LITERAL}|{_STEP}(?:\.{_STEP})*)"
_ELEMENT = rf"(?:\.\.|\d+|[A-Za-z_]\w*(?:\((?:\s*{_ARGUMENT}\s*(?:,\s*{_ARGUMENT}\s*)*)?\))?)(?:\[\d+\])*"
_ELEMENTS = rf"(?:(?:\.\.\.?)*{_ELEMENT}(?:\.{_ELEMENT})*)"
_OPERAND = rf"(?:{_LITERAL}|{_ELEMENTS})"
_PATH = re.compile(rf"!?\s*{_ELEMENTS}|{_OPERAND}\s*(?:[=!~<>]=|[<>])\s*{_OPERAND}")
_OPERATOR = re.compile(r"[!+*/%<>=&|~:,]|\s-\s|\b(?:and|or|not)\b")
_TERNARY = re.compile(r"\?[^&=]*[\s'\":]")
_ARGUMENTS = re.compile(r"\(\s*[^)_\s][^)]*\)|\(\s*_\w[^)]*\)")
_PARAMETER = re.compile(r"\{[a-z][a-z0-9-]*\}")
_NAMED_METHOD = re.compile(r"[:.](\w+)\(|`(?:\w+[:.])?(\w+)`")
_METHOD_NAME = re.compile(rf"{_TEXT}|(\w+)\(")


@dataclass(frozen=True, slots=True)
class App:
    """A parsed app: file name → source, viewdef file name → template."""

    name: str
    lua: dict[str, LuaSource]
    viewdefs: dict[str, Template]
    shared: set[str] = field(default_factory=set)
    """Methods that may be defined outside the app: those of `mcp` and of other presenters."""
    documented: set[str] = field(default_factory=set)
    """Methods that the app's documents and scenarios name: the agent or a test calls them."""
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    """Type name → another app that declares it too."""
    icons: Path | None = None
    """The project's folder of icons."""

    @property
    def methods(self) -> list[tuple[str, Method]]:
        """Every method with its file."""
        return [(file, method) for file, source in self.lua.items() for method in source.methods]

    @property
    def named_in_viewdefs(self) -> set[str]:
        """Methods that a path calls."""
        templates = self.viewdefs.values()
        paths = [binding.path for template in templates for binding in template.bindings]
        given = [text for template in templates for text in template.given]
        return {name for path in (*paths, *given) for name in _called(path)}


def global_name(app: str) -> str:
    """Return the global variable of an app's directory: `claude-panel` → `claudePanel`."""
    name = re.sub(r"[-_]+(.?)", lambda found: found[1].upper(), app)
    return name[:1].lower() + name[1:]


def _type_name(app: str) -> str:
    name = global_name(app)
    return name[:1].upper() + name[1:]


def lua_violations(app: App) -> Iterator[Finding]:
    if "app.lua" not in app.lua:
        yield Finding("app.lua", "missing_app_lua", f"apps/{app.name} has no app.lua")
        return
    name = global_name(app.name)
    if name != "mcp" and not any(name in source.assigned for source in app.lua.values()):
        yield Finding("app.lua", "global_name_mismatch", f"no global '{name}', which apps/{app.name} is displayed by")
    for file, source in app.lua.items():
        for name, line in source.unguarded:
            text = f"'{name}' is made anew by every reload; guard it with `if not session.reloading then`"
            yield Finding(f"{file}:{line}", "missing_reloading_guard", text)
    yield from dead_methods(app)


def dead_methods(app: App) -> Iterator[Finding]:
    """Yield methods that neither Lua code nor a viewdef calls."""
    used = app.named_in_viewdefs.union(*(source.called for source in app.lua.values()))
    exempt = {"mcp"}.union(*(source.made_elsewhere for source in app.lua.values()))
    for file, method in app.methods:
        called = used | app.documented | _NEVER_DEAD | CALLED_FROM_OUTSIDE
        if method.name not in called and method.owner not in exempt:
            text = (
                f"{method.owner}:{method.name} is called by no Lua code and no viewdef; name it in design.md if you do"
            )
            yield Finding(f"{file}:{method.line}", "dead_method", text)


def viewdef_violations(app: App) -> Iterator[Finding]:
    names = app.shared | {method.name for _, method in app.methods}
    names = names.union(*(source.functions for source in app.lua.values()))
    known = KnownMethods(names, [pattern for source in app.lua.values() for pattern in source.computed])
    for file, template in app.viewdefs.items():
        where = f"viewdefs/{file}"
        rows = file.endswith(".list-item.html")
        yield from (Finding(where, "html_parse_error", problem) for problem in template.problems)
        yield from (Finding(where, "unknown_element", problem) for problem in template.unknown)
        if rows and "style" in template.tags:
            yield Finding(
                where, "style_in_list_item", "<style> is repeated for every row; move it to the list's viewdef"
            )
        for binding in template.bindings:
            yield from _binding_violations(where, binding, rows=rows)
            yield from _path_violations(where, binding, known)
        for name in unknown_names(template.text, app.icons):
            rule = "wrong_hidden_syntax" if name.hides else f"unknown_{name.kind}"
            yield Finding(f"{where}:{name.line}", rule, "; ".join(filter(None, (name.text, name.hint))))


def _binding_violations(where: str, binding: Binding, *, rows: bool) -> Iterator[Finding]:
    shown = f'{binding.attribute}="{binding.text}" on <{binding.tag}>'
    if binding.attribute == "ui-action" and binding.tag not in _BUTTONS:
        yield Finding(where, "ui_action_non_button", f"{shown}; use ui-event-click, or a button")
    if binding.attribute == "ui-value" and binding.tag == "sl-badge":
        yield Finding(where, "ui_value_badge", f"{shown}; put a <span> with ui-value inside the badge")
    if rows and re.match(r"item(\.|\[|\?|$)", binding.text):
        yield Finding(where, "item_prefix", f"{shown}; a row's viewdef addresses the fields of its item directly")


@dataclass(frozen=True, slots=True)
class KnownMethods:
    """The methods that paths may call."""

    names: set[str]
    computed: list[re.Pattern[str]]
    """Patterns of names that are made while the app runs."""

    def lacks(self, name: str) -> bool:
        """Return whether there is surely no such method; where any name may be made, only a misspelling is sure."""
        if name in self.names | CALLED_FROM_OUTSIDE:
            return False
        matching = [pattern for pattern in self.computed if pattern.fullmatch(name)]
        return not matching or (all(pattern.pattern == r"\w+" for pattern in matching) and self.meant(name) != "")

    def meant(self, name: str) -> str:
        """Return the method whose name is closest, or empty text."""
        return next(iter(get_close_matches(name, sorted(self.names), n=1, cutoff=0.85)), "")


def _path_violations(where: str, binding: Binding, known: KnownMethods) -> Iterator[Finding]:
    if not _WITH_PATH.fullmatch(binding.attribute) or _PARAMETER.search(binding.text):
        return  # a component's path is complete only where it is used
    path, shown = binding.path, f'{binding.attribute}="{binding.text}"'
    if _TERNARY.search(f"?{split_path(binding.text)[1]}"):
        yield Finding(where, "operator_in_path", f"{shown}: a path has at most one ! or comparison; write a method")
    elif not path or _PATH.fullmatch(path):
        missing = [name for name in _called(path) if known.lacks(name)]
        for name in missing:
            meant = known.meant(name)
            text = f"{shown}: no method '{name}' in this app" + (f"; did you mean {meant}()?" if meant else "")
            yield Finding(where, "missing_method", text)
    elif _ARGUMENTS.search(path):
        yield Finding(where, "non_empty_method_args", f"{shown}: an argument is a literal, _ or a path; write a method")
    elif _OPERATOR.search(path) or " " in path:
        yield Finding(where, "operator_in_path", f"{shown}: a path has at most one ! or comparison; write a method")
    else:
        yield Finding(where, "invalid_path_syntax", f"{shown} is not a path")


def _called(path: str) -> list[str]:
    return [name for name in _METHOD_NAME.findall(path) if name]


def warnings(app: App) -> Iterator[Finding]:
    """Yield code that may be intended, but is often a mistake."""
    for file, method in app.methods:
        if method.name in CALLED_FROM_OUTSIDE:
            text = f"{method.owner}:{method.name} is called by the agent or the shell, not by the app"
            yield Finding(f"{file}:{method.line}", "external_method", text)
    for file, source in app.lua.items():
        for name, line in source.types:
            if name in app.elsewhere:
                text = (
                    f"'{name}' is also a type of apps/{app.elsewhere[name]}: these are two types, this one "
                    f"'{app.name}.{name}' elsewhere; a clearer name is '{_type_name(app.name)}.{name}'"
                )
                yield Finding(f"{file}:{line}", "shared_type_name", text)
        for name, line in source.table_defaults:
            text = f"the table of '{name}' is shared by all instances that assign none of their own; EMPTY is not"
            yield Finding(f"{file}:{line}", "shared_table_default", text)


REMINDERS = (
    "Look at the app in the browser: an audit reads files, it sees no pixels.",
    "Compare app and viewdefs with design.md and requirements.md, if there are any.",
)


def audit(apps: Path, name: str) -> JsonObject:
    """Check the app in `apps/NAME`.

    Raises:
        NotFoundError: there is no such directory.
    """
    folder = apps / name
    if name in {"", ".", ".."} or any(sign in name for sign in "/\\\0") or not folder.is_dir():
        raise NotFoundError(f"app {name} not found", name=name)
    return report(
        replace(read_app(folder), elsewhere=types_of_others(apps, name), icons=apps.parent / "html" / "icons")
    )


def types_of_others(apps: Path, name: str) -> dict[str, str]:
    """Return the types that the other apps declare, each with its app."""
    found: dict[str, str] = {}
    for folder in sorted(folder for folder in apps.iterdir() if folder.name != name and folder.is_dir()):
        for file in sorted(folder.rglob("*.lua")):
            for type_name, _ in LuaSource(file.read_text(encoding="utf-8", errors="replace")).types:
                found.setdefault(type_name, folder.name)
    return found


def read_app(folder: Path) -> App:
    """Read the Lua files and viewdefs of an app."""
    texts = [file for pattern in ("*.lua", "*.md", "*.json") for file in sorted(folder.rglob(pattern))]
    files = [*texts, *sorted((folder / "viewdefs").rglob("*.html"))]
    return parsed_app(folder.name, {file.relative_to(folder).as_posix(): file.read_bytes() for file in files})


def parsed_app(name: str, files: Mapping[str, bytes]) -> App:
    """Return an app from the contents of its files; pure."""
    texts = {path: content.decode("utf-8", "replace") for path, content in sorted(files.items())}
    lua = {path: LuaSource(text) for path, text in texts.items() if path.endswith(".lua")}
    viewdefs = {
        path.rpartition("/")[2]: Template(text)
        for path, text in texts.items()
        if path.startswith("viewdefs/") and path.endswith(".html")
    }
    documents = "\n".join(text for path, text in texts.items() if path.endswith((".md", ".json")))
    return App(
        name, lua, viewdefs, documented={name for found in _NAMED_METHOD.findall(documents) for name in found if name}
    )


def findings(app: App) -> list[Finding]:
    """Return every finding, violations first."""
    return [*sorted(lua_violations(app)), *sorted(viewdef_violations(app)), *sorted(warnings(app))]


def report(app: App) -> JsonObject:
    """Apply every rule and count the findings."""
    lua, viewdefs = sorted(lua_violations(app)), sorted(viewdef_violations(app))
    return {
        "app": app.name,
        "violations": [finding.as_json() for finding in (*lua, *viewdefs)],
        "warnings": [finding.as_json() for finding in sorted(warnings(app))],
        "reminders": list(REMINDERS),
        "summary": {
            "total_methods": len(app.methods),
            "dead_methods": sum(finding.rule == "dead_method" for finding in lua),
            "viewdef_violations": len(viewdefs),
        },
    }
