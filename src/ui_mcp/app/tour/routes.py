"""Routes of the person's listener by which their page follows and controls the tour."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ui_mcp.app.tour.tour import Tour
from ui_mcp.errors import InvalidArgumentsError
from ui_mcp.webserver.responses import answering, body_of, text_of
from ui_mcp.webserver.server import Routes

PATH = "/tour"
WAIT_SECONDS = 20.0


def tour_routes(tour: Tour) -> Routes:
    async def followed(request: Request) -> Response:
        """Answer the feed once it is newer than the version `after`."""
        given = request.query_params.get("after", "-1")
        version = int(given) if given.lstrip("-").isdecimal() else -1
        return JSONResponse(await tour.feed.after(version, WAIT_SECONDS))

    async def controlled(request: Request) -> Response:
        action = text_of(await body_of(request), "action")
        match action:
            case "begin":
                tour.begin()
            case "start":
                tour.start()
            case "next":
                tour.go_on()
            case "skip":
                tour.skip()
            case _:
                raise InvalidArgumentsError(f"action must be begin, start, next or skip, not {action!r}")
        return JSONResponse({"ok": True})

    return [
        Route(PATH, answering(followed), methods=["GET"]),
        Route(PATH, answering(controlled), methods=["POST"]),
    ]
