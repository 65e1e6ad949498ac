"""Turns operations into listed tools, and provides the `set_auth` tool."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Literal

from ui_mcp.discovery import lazy
from ui_mcp.errors import ConfigError, InvalidArgumentsError
from ui_mcp.gateway.config.settings import Decision, Override, Selection, TargetSettings
from ui_mcp.gateway.openapi.auth import DEFAULT, Credential, Credentials, Kind
from ui_mcp.gateway.openapi.bundle import shrunk
from ui_mcp.gateway.openapi.model import Api, Operation
from ui_mcp.gateway.openapi.schemas import loosened
from ui_mcp.gateway.sanitize import MASK
from ui_mcp.gateway.source import Entry
from ui_mcp.jsontypes import JsonObject
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.toolkit.functions import parse
from ui_mcp.toolkit.names import Unnamed, closest, is_legal, tool_names
from ui_mcp.toolkit.schemas import input_schema
from ui_mcp.toolkit.tool import Annotations, Call, Tool, ToolResult, structured_result

if TYPE_CHECKING:
    from html import unescape
else:
    unescape = lazy("html:unescape")

DESTRUCTIVE = frozenset({"delete", "remove", "destroy", "drop", "purge", "reset", "cancel", "revoke", "terminate"})
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "QUERY"})
_MAX_DESCRIPTION = 300


def listed(operation: Operation, name: str, budget: int) -> Tool:
    """Return the tool within `budget` bytes; calls are validated against the full schema."""
    description = describe(operation)
    room = max(budget - len(description) - len(name) - 250, 500)  # 250 for title, annotations and JSON keys
    return Tool(
        name=name,
        title=title(operation),
        description=description,
        input_schema=shrunk(operation.input_schema, room),
        output_schema=loosened(operation.output_schema) if operation.output_schema else None,
        annotations=hints(operation),
    )


def title(operation: Operation) -> str:
    """Return a title for people, of at most 100 characters or the request line."""
    return plain(operation.summary)[:100] or f"{operation.method} {operation.path}"


def describe(operation: Operation) -> str:
    """Return summary and description, cut to 300 characters, and the request line."""
    summary, details = plain(operation.summary), plain(operation.description)
    words = details if not summary or details.startswith(summary) else summary
    if summary and details and words == summary:
        words = f"{summary.rstrip('.')}. {details}"
    if len(words) > _MAX_DESCRIPTION:
        words = words[:_MAX_DESCRIPTION].rsplit(" ", 1)[0] + "…"
    request = f"{operation.method} {operation.path}"
    lead = "(deprecated) " if operation.deprecated else ""
    return f"{lead}{words}\n{request}" if words else lead + request


def hints(operation: Operation) -> Annotations:
    """Derive the annotations from the method; a POST is destructive if its name says so."""
    method = operation.method
    if method in SAFE_METHODS:
        return Annotations(read_only=True, destructive=False, idempotent=True, open_world=True)
    # PUT and PATCH overwrite; many APIs also delete or cancel by POST.
    destructive = method in {"PUT", "PATCH", "DELETE"} or bool(_words(operation) & DESTRUCTIVE)
    return Annotations(
        read_only=False, destructive=destructive, idempotent=method in {"PUT", "DELETE"}, open_world=True
    )


def plain(text: str) -> str:
    """Return text without HTML tags and Markdown markup, on one line."""
    if not text:
        return ""
    # The bound keeps the search linear on hostile text.
    text = re.sub(r"<[^<>]{1,200}>", " ", text) if "<" in text else text
    text = unescape(text) if "&" in text else text
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text) if "](" in text else text
    text = re.sub(r"[`*#]+", "", text)
    return re.sub(r"\s+", " ", text).strip()


def _words(operation: Operation) -> set[str]:
    last = operation.path.rstrip("/").rsplit("/", 1)[-1]
    return {
        word.lower()
        for text in (operation.operation_id, last)
        for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", text)
    }


@dataclass(frozen=True, slots=True)
class SetAuthArgs:
    """What the caller sends."""

    token: Annotated[str, "The credential, or env:NAME to take it from the environment."]
    auth_type: Annotated[
        Literal["bearer", "header", "query", "cookie", "basic"] | None,
        "How it is sent; by default as the document says.",
    ] = None
    header_name: Annotated[str, "Name of the header, parameter or cookie."] = ""
    scheme: Annotated[str, "Name of the document's security scheme it is for."] = ""


def set_auth_tool(source: str, api: Api) -> Tool:
    """Return the `set_auth` tool, described by the schemes of the document."""
    schemes = ", ".join(f"{name} ({scheme.kind})" for name, scheme in api.schemes.items())
    return Tool(
        name=f"{source}__set_auth",
        title=f"Set credentials for {source}",
        description=f"Give {api.title or source} a credential for your following calls; it is kept in memory only."
        + (f" Schemes: {schemes}." if schemes else ""),
        input_schema=input_schema(SetAuthArgs),
        annotations=Annotations(read_only=False, destructive=False, idempotent=True, open_world=False),
    )


def set_auth(credentials: Credentials, api: Api | None, arguments: JsonObject, call: Call) -> ToolResult:
    """Store a credential in memory for the calling principal.

    Raises:
        InvalidArgumentsError: the scheme or the environment variable does not exist.
    """
    args = parse(SetAuthArgs, arguments)
    schemes = api.schemes if api else {}
    if args.scheme and args.scheme not in schemes:
        near = closest(args.scheme, schemes, 1)
        raise InvalidArgumentsError(
            f"scheme: the document has no {args.scheme!r}" + (f"; did you mean {near[0]!r}?" if near else "")
        )
    token = _token_value(args.token)
    kind: Kind = args.auth_type or "any"
    credentials.set(call.principal, args.scheme or DEFAULT, Credential(kind, token=token, parameter=args.header_name))
    return structured_result({"ok": True, "scheme": args.scheme or None, "auth_type": args.auth_type, "token": MASK})


def _token_value(token: str) -> str:
    if not token.startswith("env:"):
        return token
    name = token.removeprefix("env:")
    value = os.environ.get(name)
    if not value:
        raise InvalidArgumentsError(f"token: the environment has no {name}")
    return value


Builtin = Callable[[Credentials, Api | None, JsonObject, Call], ToolResult]


@dataclass(frozen=True, slots=True)
class Tools:
    """Entries in document order, and lookup tables by tool name; hidden tools are only in the tables."""

    entries: tuple[Entry, ...] = ()
    operations: Mapping[str, Operation] = field(default_factory=dict)
    defaults: Mapping[str, JsonObject] = field(default_factory=dict)
    builtins: Mapping[str, Builtin] = field(default_factory=dict)


def build_tools(settings: TargetSettings, api: Api, budget: int = 4_000) -> Tools:
    """Return the tools of the selected operations, with overrides applied.

    Raises:
        ConfigError: an override gives an illegal name.
    """
    chosen = [operation for operation in api.operations if is_selected(operation, settings)]
    names = tool_names(settings.name, [Unnamed(operation.wanted_name, operation.identity) for operation in chosen])
    entries: list[Entry] = []
    operations: dict[str, Operation] = {}
    defaults: dict[str, JsonObject] = {}
    for operation, given in zip(chosen, names, strict=True):
        override = _override_for(settings.overrides, operation, given)
        name = _renamed(given, override)
        operations[name] = operation
        if override.defaults:
            defaults[name] = override.defaults
        if not override.hidden:
            tool = _with_override(listed(operation, name, budget), override)
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
        if tool.name not in operations:  # else the API's own operation of this name wins
            builtins[tool.name] = set_auth
            entries.append(Entry(tool, settings.name, "target", "set_auth"))
    return Tools(tuple(entries), operations, defaults, builtins)


def is_selected(operation: Operation, settings: TargetSettings) -> bool:
    included = not settings.include or _matches(operation, settings.include)
    return included and not _matches(operation, settings.exclude)


def _matches(operation: Operation, selection: Selection) -> bool:
    return (
        any(fnmatchcase(tag, glob) for tag in operation.tags for glob in selection.tags)
        or any(fnmatchcase(operation.path, glob) for glob in selection.paths)
        or operation.method in {method.upper() for method in selection.methods}
        or any(fnmatchcase(operation.wanted_name, glob) for glob in selection.operations)
    )


def _override_for(overrides: Mapping[str, Override], operation: Operation, name: str) -> Override:
    # An override may use the tool name, the operation id or the request line.
    for key in (name, operation.operation_id, f"{operation.method} {operation.path}"):
        if key and key in overrides:
            return overrides[key]
    return Override()


def _renamed(name: str, override: Override) -> str:
    if override.name is None:
        return name
    if not is_legal(override.name):
        raise ConfigError(
            f"overrides: {override.name!r} is not a valid tool name (letters, digits, _ and -, at most 64)"
        )
    return override.name


def _with_override(tool: Tool, override: Override) -> Tool:
    hints = override.annotations
    annotations = Annotations(
        read_only=hints.get("readOnlyHint", tool.annotations.read_only),
        destructive=hints.get("destructiveHint", tool.annotations.destructive),
        idempotent=hints.get("idempotentHint", tool.annotations.idempotent),
        open_world=hints.get("openWorldHint", tool.annotations.open_world),
    )
    return replace(tool, description=override.description or tool.description, annotations=annotations)


def decisions(settings: TargetSettings, entries: Sequence[Entry]) -> Iterator[tuple[str, Decision]]:
    """Yield the policy decisions that overrides set, by tool name."""
    for entry in entries:
        for key in (entry.name, entry.local_name, f"{entry.method} {entry.path}"):
            override = settings.overrides.get(key)
            if override is not None and override.decision is not None:
                yield entry.name, override.decision
                break
