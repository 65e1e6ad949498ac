"""Finds the modules of a package, so that a tool, command, model vendor or UI backend is added by adding a file."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType


def discover_modules(package: ModuleType) -> Iterator[ModuleType]:
    """Import and yield the modules directly inside `package`, sorted by name."""
    for name in sorted(module.name for module in iter_modules(package.__path__)):
        yield import_module(f"{package.__name__}.{name}")


def find_module(package: ModuleType, name: str) -> ModuleType | None:
    """Import one module of `package`; None if it has none of this name."""
    known = any(module.name == name for module in iter_modules(package.__path__))
    return import_module(f"{package.__name__}.{name}") if known else None
