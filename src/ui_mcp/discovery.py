"""Finds the modules of a package, so that adding a file is all it takes to add a tool, a resource or a command."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType


def discover_modules(package: ModuleType) -> Iterator[ModuleType]:
    """Import and yield the modules directly inside `package`, by name."""
    for found in sorted(iter_modules(package.__path__), key=lambda module: module.name):
        yield import_module(f"{package.__name__}.{found.name}")
