"""Finds the modules of a package, so that a tool, resource or command is added by adding a file."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType


def discover_modules(package: ModuleType) -> Iterator[ModuleType]:
    """Import and yield the modules directly inside `package`, sorted by name."""
    for found in sorted(iter_modules(package.__path__), key=lambda module: module.name):
        yield import_module(f"{package.__name__}.{found.name}")
