"""`/icons/NAME.svg`: icons the page does not know of: the project's own, else the nearest bundled one, else a dot."""

from starlette.requests import Request
from starlette.responses import Response

from ui_mcp.log import logger
from ui_mcp.webserver.static import Files

_log = logger("httpd")
_DOT = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16" fill="currentColor" viewBox="0 0 16 16">'
    '<circle cx="8" cy="8" r="3"/></svg>'
)
_REMEMBERED = 1000


class Icons:
    """Answers for every name, so that a missing icon is a line in the log and never a broken page."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._told: set[str] = set()

    async def get(self, request: Request) -> Response:
        """Answer with a drawing."""
        name = request.path_params["name"]
        own = await self._files.find(f"icons/{name}.svg", request.scope)
        if own:
            return own
        near = await self._files.find(f"vendor/shoelace/icons/{near_name(name)}.svg", request.scope)
        self._tell(name, f"{near_name(name)!r} stands in" if near else "a dot stands in")
        return near or Response(_DOT, media_type="image/svg+xml", headers={"Cache-Control": "no-cache"})

    def _tell(self, name: str, meanwhile: str) -> None:
        if name not in self._told and len(self._told) < _REMEMBERED:
            self._told.add(name)
            _log.warning("There is no icon %r, %s; put %s.svg into html/icons/ of the project", name, meanwhile, name)


def near_name(name: str) -> str:
    """Return the outline for a filled icon, and the filled one for an outline."""
    return name.removesuffix("-fill") if name.endswith("-fill") else f"{name}-fill"
