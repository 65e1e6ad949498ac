"""How NLUI's API reads bodies and writes errors: `{error}` with a fitting status."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ui_mcp.errors import (
    AlreadyDecidedError,
    DeniedError,
    DigestMismatchError,
    ExpiredError,
    InvalidArgumentsError,
    MountError,
    NotFoundError,
    UiMcpError,
    UnknownApprovalError,
)
from ui_mcp.jsontypes import Json, JsonObject

STATUSES: dict[type[UiMcpError], int] = {
    NotFoundError: 404,
    UnknownApprovalError: 404,
    AlreadyDecidedError: 409,
    MountError: 409,
    ExpiredError: 410,
    DigestMismatchError: 412,
    DeniedError: 403,
}
Handler = Callable[[Request], Awaitable[Response]]


def answering(handler: Handler) -> Handler:
    """Turn our errors into answers."""

    async def answered(request: Request) -> Response:
        try:
            return await handler(request)
        except UiMcpError as error:
            status = next((status for kind, status in STATUSES.items() if isinstance(error, kind)), 400)
            return JSONResponse({"error": error.message}, status)

    return answered


async def body_of(request: Request) -> JsonObject:
    """Read the JSON object a request carries.

    Raises:
        InvalidArgumentsError: it carries something else.
    """
    try:
        body: Json = await request.json()
    except (ValueError, RecursionError) as error:
        raise InvalidArgumentsError("The body must be JSON") from error
    if not isinstance(body, dict):
        raise InvalidArgumentsError("The body must be a JSON object")
    return body


def text_of(body: JsonObject, *names: str) -> str:
    """Return the first of these fields, which must be a text with something in it.

    Raises:
        InvalidArgumentsError: it is not.
    """
    value = next((body[name] for name in names if body.get(name)), None)
    if not isinstance(value, str) or not value.strip():
        raise InvalidArgumentsError(f"{names[0]} must be a non-empty string")
    return value
