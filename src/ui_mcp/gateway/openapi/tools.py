"""The tools of one API: which operations are offered, under which names, and how the user wants them changed."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from ui_mcp.compositor.openapi.listing import listed
from ui_mcp.compositor.openapi.set_auth import set_auth, set_auth_tool
from ui_mcp.errors import ConfigError
from ui_mcp.gateway.config.settings import Decision, Override, Selection, TargetSettings
from ui_mcp.gateway.openapi.auth import Credentials
from ui_mcp.gateway.openapi.model import Api, Operation
from ui_mcp.gateway.source import Entry
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.names import Unnamed, is_legal, tool_names
from ui_mcp.toolkit.tool import Annotations, Call, Tool, ToolResult

Builtin = Callable[[Credentials, Api | None, JsonObject, Call], ToolResult]


@dataclass(frozen=True, slots=True)
class Tools:
    """Entries in document order, and the tables that calls are routed by."""

    entries: tuple[Entry, ...] = ()
    operations: Mapping[str, Operation] = field(default_factory=dict)
    defaults: Mapping[str, JsonObject] = field(default_factory=dict)
    builtins: Mapping[str, Builtin] = field(default_factory=dict)


def build_tools(settings: TargetSettings, api: Api, budget: int = 4_000) -> Tools:
    """Name and list the operations of a document."""
    chosen = [operation for operation in api.operations if is_selected(operation, settings)]
    names = tool_names(settings.name, [Unnamed(operation.wanted_name, operation.identity) for operation in chosen])
    entries: list[Entry] = []
    operations: dict[str, Operation] = {}
    defaults: dict[str, JsonObject] = {}
    for operation, given in zip(chosen, names, strict=True):
        override = _override(settings.overrides, operation, given)
        name = _renamed(given, override)
        operations[name] = operation
        if override.defaults:
            defaults[name] = override.defaults
        if not override.hidden:
            tool = _changed(listed(operation, name, budget), override)
            entries.append(
                Entry(
                    tool,
                    settings.name,
                    "target",
                    operation.wanted_name,
                    operation.method,
                    operation.path,
                    operation.tags,
                )
            )
    builtins: dict[str, Builtin] = {}
    if settings.set_auth and (api.schemes or settings.auth):
        tool = set_auth_tool(settings.name, api)
        if tool.name not in operations:
            builtins[tool.name] = set_auth
            entries.append(Entry(tool, settings.name, "target", "set_auth"))
    return Tools(tuple(entries), operations, defaults, builtins)


def is_selected(operation: Operation, settings: TargetSettings) -> bool:
    """Say whether an operation is offered."""
    included = not settings.include or _matches(operation, settings.include)
    return included and not _matches(operation, settings.exclude)


def _matches(operation: Operation, selection: Selection) -> bool:
    return (
        any(fnmatchcase(tag, glob) for tag in operation.tags for glob in selection.tags)
        or any(fnmatchcase(operation.path, glob) for glob in selection.paths)
        or operation.method in {method.upper() for method in selection.methods}
        or any(fnmatchcase(operation.wanted_name, glob) for glob in selection.operations)
    )


def _override(overrides: Mapping[str, Override], operation: Operation, name: str) -> Override:
    for key in (name, operation.operation_id, f"{operation.method} {operation.path}"):
        if key and key in overrides:
            return overrides[key]
    return Override()


def _renamed(name: str, override: Override) -> str:
    if override.name is None:
        return name
    if not is_legal(override.name):
        raise ConfigError(f"overrides: {override.name!r} is no tool name (letters, digits, _ and -, at most 64)")
    return override.name


def _changed(tool: Tool, override: Override) -> Tool:
    hints = override.annotations
    annotations = Annotations(
        read_only=hints.get("readOnlyHint", tool.annotations.read_only),
        destructive=hints.get("destructiveHint", tool.annotations.destructive),
        idempotent=hints.get("idempotentHint", tool.annotations.idempotent),
        open_world=hints.get("openWorldHint", tool.annotations.open_world),
    )
    return replace(tool, description=override.description or tool.description, annotations=annotations)


def decisions(settings: TargetSettings, entries: Sequence[Entry]) -> Iterator[tuple[str, Decision]]:
    """Yield the decisions that overrides fix, by listed name."""
    for entry in entries:
        for key in (entry.name, entry.local_name, f"{entry.method} {entry.path}"):
            override = settings.overrides.get(key)
            if override is not None and override.decision is not None:
                yield entry.name, override.decision
                break
