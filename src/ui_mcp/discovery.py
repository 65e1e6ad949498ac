"""Finds modules by name: those of a package, so that a feature is added by adding a file, and those needed later."""

from collections.abc import Callable, Iterator
from importlib import import_module
from pkgutil import iter_modules, resolve_name
from types import ModuleType
from typing import Any


def discover_modules(package: ModuleType) -> Iterator[ModuleType]:
    """Import and yield the modules directly inside `package`, sorted by name."""
    for name in sorted(module.name for module in iter_modules(package.__path__)):
        yield import_module(f"{package.__name__}.{name}")


def find_module(package: ModuleType, name: str) -> ModuleType | None:
    """Import one module of `package`; None if it has none of this name."""
    known = any(module.name == name for module in iter_modules(package.__path__))
    return import_module(f"{package.__name__}.{name}") if known else None


def lazy(target: str) -> Callable[..., Any]:
    """Stand in for the function or class `module:name`, whose module is imported when it is called.

    For what the start of a server, `--help` or a completion must not load. It belongs into the `else` of an
    `if TYPE_CHECKING` that imports the same name, so that types, layers and cycles are checked as for any import.
    """

    def call(*arguments: object, **named: object) -> Any:
        return resolve_name(target)(*arguments, **named)

    return call
