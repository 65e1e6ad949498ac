"""A viewdef: one HTML template stored under `TYPE.NAMESPACE`, compiled into its binding table."""

import re
from dataclasses import dataclass

from ui_mcp.errors import ViewdefError

_KEY = re.compile(r"[A-Za-z0-9_.-]+")


@dataclass(frozen=True, slots=True)
class Binding:
    """One bound attribute. Its place in `Viewdef.bindings` is the position both sides know it by."""

    kind: str
    """`value`, `attr`, `class`, `style`, `html`, `code`, `action`, `event`, `keypress`, `view` or `viewlist`."""
    attribute: str
    tag: str
    text: str
    """The attribute's value: PATH[?QUERY]."""
    namespace: str = ""
    """`ui-namespace` of the element or the nearest element around it."""
    item_namespace: str = ""
    """For lists: `ui-namespace` inside the list element."""
    item_wrapper: str = ""
    """For lists: `ui-item-wrapper`."""


@dataclass(frozen=True, slots=True)
class Viewdef:
    """A compiled template."""

    key: str
    html: str
    """The template as pages get it: with positions stamped, otherwise as written."""
    bindings: tuple[Binding, ...]
    warnings: tuple[str, ...] = ()


def checked_key(type_name: str, namespace: str) -> str:
    """Join type and namespace.

    Raises:
        ViewdefError: one of them has characters a file name should not have.
    """
    for what, name in (("type", type_name), ("namespace", namespace)):
        if not _KEY.fullmatch(name):
            raise ViewdefError(f"invalid viewdef: {what} {name!r} may only have letters, digits, '_', '.' and '-'")
    return f"{type_name}.{namespace}"
