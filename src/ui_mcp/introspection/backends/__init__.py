"""UI backends: each module of this package with a `BACKEND` is a kind of UI that can be attached."""

import sys

from ui_mcp.discovery import discover_modules
from ui_mcp.errors import UiArgumentError
from ui_mcp.introspection.backend import Backend


def backends() -> dict[str, Backend]:
    """Return the backends by kind."""
    found = discover_modules(sys.modules[__name__])
    offered = [module.BACKEND for module in found if hasattr(module, "BACKEND")]
    return {backend.kind: backend for backend in offered}


def backend_of(kind: str) -> Backend:
    """Return the backend of a kind.

    Raises:
        UiArgumentError: there is none.
    """
    known = backends()
    if kind not in known:
        raise UiArgumentError(f"There is no kind of UI {kind!r}; there are: {', '.join(known)}")
    return known[kind]
