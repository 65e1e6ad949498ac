"""The routes of an application, however deep in middleware, so that tests over all of them cover new ones too."""

import re
from collections.abc import Iterator
from typing import Any

from starlette.routing import Route, WebSocketRoute

READING = {"GET", "HEAD"}


def routes_of(app: Any) -> Iterator[tuple[str, str]]:
    """Yield method and path of every HTTP route, with the parameters of paths filled in."""
    for route in _routes(app):
        if isinstance(route, Route):
            for method in sorted(route.methods or {"GET"}):
                yield method, filled(route.path)


def changing_routes(app: Any) -> list[tuple[str, str]]:
    """Return the routes that may change something."""
    return sorted({(method, path) for method, path in routes_of(app) if method not in READING})


def sockets_of(app: Any) -> list[str]:
    """Return the paths of WebSockets."""
    return [filled(route.path) for route in _routes(app) if isinstance(route, WebSocketRoute)]


def filled(path: str) -> str:
    """Put something into the parameters of a path."""
    return re.sub(r"\{\w+:int\}", "0", re.sub(r"\{\w+(:path)?\}", "x", path))


def _routes(app: Any) -> Iterator[Any]:
    while not hasattr(app, "routes"):
        if not hasattr(app, "app"):
            return
        app = app.app
    for route in app.routes:
        yield route
        if not isinstance(route, Route | WebSocketRoute):
            yield from _routes(route)
