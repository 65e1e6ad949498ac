"""Runs inside a process of the product for scripts/surface.py, where the product's own modules can be imported.

`help` and `settings` print JSON. Any other words are a console script and its arguments; `serve` before them makes its
listeners answer a request that has the header `ASKED` with their routes.
"""

import io
import json
import os
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

if TYPE_CHECKING:  # imported only where needed: the product must start as it does without this script
    from starlette.routing import BaseRoute
    from starlette.types import Receive, Scope, Send

ROOT = Path(__file__).resolve().parents[1]
ASKED = "x-surface"


def settings() -> dict[str, Any]:
    """Return every setting by its file. All imports of internal modules are in this function."""
    from ui_mcp.agent.models import ModelSettings
    from ui_mcp.config import ENVIRONMENT, Config
    from ui_mcp.gateway.config.settings import GatewaySettings
    from ui_mcp.trust import WIDENING
    from ui_mcp.ui.directories import AccountSettings

    project = dict(_fields(Config, ""))
    for variable, key in ENVIRONMENT.items():
        project[key]["environment"] = variable
    for key in WIDENING:
        project[key]["requires"] = "ui-mcp trust"
    gateway = {**dict(_fields(GatewaySettings, "")), **dict(_fields(ModelSettings, "llm."))}
    return {
        "config.toml": project,
        "config.toml of the account": dict(_fields(AccountSettings, "")),
        "nlui.yaml": gateway,
    }


def _fields(section: type, prefix: str) -> Iterator[tuple[str, dict[str, Any]]]:
    from ui_mcp.fields import fields_of, record_in, unmarked

    for name, field in fields_of(section).items():
        key, *others = field.names
        if inner := record_in(field.annotation):
            yield from _fields(inner, f"{prefix}{key}.")
            continue
        kind = unmarked(field.annotation)[0]
        aliases = [other for other in others if other != name]
        entry: dict[str, Any] = {
            "type": kind.__name__ if type(kind) is type else re.sub(r"\b\w+\.", "", str(kind)),
            **({} if field.required else {"default": field.default}),
            **({"aliases": aliases} if aliases else {}),
        }
        yield f"{prefix}{key}", entry


def helps(script: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the help of a console script and of all its commands, which are found in the help itself."""
    pending = [script]
    while pending:
        command = pending.pop()
        with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()), suppress(SystemExit):
            run([*command.split(), "--help"])
        text = out.getvalue()
        if text.startswith(f"usage: {command} "):  # any other word is not a command, or is an alias
            yield command, text.splitlines()
            words = re.findall(r"(?:^ {4}|\bnlui )([a-z][a-z-]*)", text, re.MULTILINE)
            pending += [f"{command} {word}" for word in dict.fromkeys(words)]


def add_route_listing() -> None:
    """Make every ASGI application answer a request that has the header `ASKED` with its routes."""
    from starlette.responses import JSONResponse
    from starlette.routing import Router

    original = Router.__call__

    async def call(router: Router, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] == "http" and any(name == ASKED.encode() for name, _ in scope["headers"]):
            await JSONResponse(sorted(set(_routes(router.routes))))(scope, receive, send)
        else:
            await original(router, scope, receive, send)

    patch.object(Router, "__call__", call).start()


def _routes(routes: "Iterable[BaseRoute]") -> Iterator[tuple[str, str]]:
    """Yield path and method of all routes; routes that are built on first use are built now."""
    from starlette.routing import Route, WebSocketRoute

    for route in routes:
        if isinstance(route, Route):
            yield from ((route.path, method) for method in route.methods or ())
        elif isinstance(route, WebSocketRoute):
            yield route.path, "WebSocket"
        else:
            yield from _routes(getattr(route, "routes", None) or ())


def run(words: list[str]) -> int:
    """Run a console script as its installed wrapper does."""
    main = EntryPoint(words[0], scripts()[words[0]], "console_scripts").load()
    with patch.object(sys, "argv", words):
        code: int = main()
        return code


def scripts() -> dict[str, str]:
    """Return the console scripts of the package and their functions."""
    found: dict[str, str] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    return found


def take_terminal() -> None:
    """Make the terminal on stdin the controlling one, which commands that act for a person require."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def main(words: list[str]) -> int:
    match words:
        case ["help"]:
            print(json.dumps({command: text for script in scripts() for command, text in helps(script)}))
            return 0
        case ["settings"]:
            print(json.dumps(settings()))
            return 0
        case ["serve", *words]:
            add_route_listing()
    if os.isatty(0):
        take_terminal()
    return run(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
