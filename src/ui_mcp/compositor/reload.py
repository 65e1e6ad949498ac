"""What a changed configuration means for a running gateway; what it does not concern keeps running."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from ui_mcp.gateway.config.settings import BackendSettings, TargetSettings
from ui_mcp.toolkit.names import source_name

S = TypeVar("S", TargetSettings, BackendSettings)


@dataclass(frozen=True, slots=True)
class Difference(Generic[S]):
    """What to stop, then what to start."""

    stop: tuple[str, ...]
    start: tuple[S, ...]


def difference(running: Mapping[str, S], wanted: Iterable[S]) -> Difference[S]:
    """Compare what runs with what is wanted; a source whose settings changed is stopped and started."""
    named = {name_of(one): one.model_copy(update={"name": name_of(one)}) for one in reversed(tuple(wanted))}
    same = {name for name, settings in running.items() if named.get(name) == settings}
    return Difference(
        stop=tuple(name for name in running if name not in same),
        start=tuple(settings for name, settings in reversed(named.items()) if name not in same),
    )


def name_of(settings: S) -> str:
    """Return the name a source runs under."""
    if isinstance(settings, TargetSettings):
        return source_name(settings.name or settings.base_url or settings.spec)
    return source_name(settings.name)
