"""Apps, settings and the Lua console of the person's listener; imported on the first request."""

from base64 import b64encode
from collections.abc import Callable
from functools import partial

from anyio import to_thread

from ui_mcp.jsontypes import Json, JsonObject, loads
from ui_mcp.toolkit.tool import Call, Media, Text
from ui_mcp.toolkit.toolset import Toolset
from ui_mcp.ui.http.console_routes import ConsoleRoutes
from ui_mcp.ui.http.settings_routes import SettingsRoutes
from ui_mcp.ui.server import UiServer
from ui_mcp.webserver.server import Routes


def console_routes(host: UiServer, build_tools: Callable[[], Toolset]) -> Routes:
    return [*ConsoleRoutes(host, partial(run_test, build_tools)).routes(), *SettingsRoutes(host).routes()]


async def run_test(build_tools: Callable[[], Toolset], app: str, steps: list[Json]) -> JsonObject:
    """Play a scenario with `ui_test` and return its outcome for the person's page."""
    tools = await to_thread.run_sync(build_tools)
    result = await tools.call("ui_test", {"app": app, "steps": steps}, Call(client_name="console"))
    texts = [part.text for part in result.content if isinstance(part, Text)]
    pictures = [b64encode(part.data).decode() for part in result.content if isinstance(part, Media)]
    first: Json = loads(texts[0]) if texts else {}
    failure = first if result.is_error else None
    return {"ok": not result.is_error, "steps": len(steps), "failure": failure, "picture": next(iter(pictures), None)}
