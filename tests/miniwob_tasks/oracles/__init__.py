"""One scripted oracle per task: reads our outline and decides, without looking at the page's own code or state."""

from collections.abc import Callable
from importlib import import_module

from miniwob_tasks.hands import Ui

Oracle = Callable[[Ui], None]
_ORACLES: dict[str, Oracle] = {}


def solves(*tasks: str) -> Callable[[Oracle], Oracle]:
    """Register an oracle for tasks."""

    def register(oracle: Oracle) -> Oracle:
        _ORACLES.update(dict.fromkeys(tasks, oracle))
        return oracle

    return register


def oracles() -> dict[str, Oracle]:
    for name in ("clicks", "dates", "drags", "drawings", "fields", "games", "lists", "mail", "texts"):
        import_module(f"{__name__}.{name}")
    return _ORACLES
