"""An authorization server whose metadata and answers a test decides, and the resource that it guards."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from ui_mcp.jsontypes import JsonObject
from ui_mcp.webserver.server import bind, listening, port_of

Answer = Callable[[dict[str, str]], Response]


class FakeServer:
    """Grants whatever is asked for; `metadata` and `resource` are changed by tests, `forms` is what it received."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.resource: JsonObject | None = {"resource": f"{base}/api", "authorization_servers": [base]}
        self.metadata: JsonObject | None = {
            "issuer": base,
            "authorization_endpoint": f"{base}/authorize",
            "token_endpoint": f"{base}/token",
            "registration_endpoint": f"{base}/register",
            "device_authorization_endpoint": f"{base}/device",
            "revocation_endpoint": f"{base}/revoke",
            "code_challenge_methods_supported": ["S256"],
        }
        self.forms: list[dict[str, str]] = []
        self.registered: list[JsonObject] = []
        self.revoked: set[str] = set()
        self.back: dict[str, str] = {}
        """What comes back from the sign-in besides code and state."""
        self.token_answer: Answer = lambda form: JSONResponse(
            {
                "access_token": f"token-{len(self.forms)}",
                "token_type": "Bearer",
                "refresh_token": f"r-{len(self.forms)}",
            }
        )

    def routes(self) -> list[Route]:
        return [
            Route("/api", self._guarded, methods=["GET", "POST"]),
            Route("/.well-known/oauth-protected-resource/api", self._resource),
            Route("/.well-known/oauth-authorization-server", self._metadata),
            Route("/register", self._register, methods=["POST"]),
            Route("/authorize", self._authorize),
            Route("/token", self._token, methods=["POST"]),
            Route("/device", self._device, methods=["POST"]),
            Route("/revoke", self._token, methods=["POST"]),
        ]

    async def _guarded(self, request: Request) -> Response:
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        if token.startswith("token-") and token not in self.revoked:
            return JSONResponse({"token": token})
        return Response(status_code=401, headers={"WWW-Authenticate": 'Bearer scope="read write"'})

    async def _resource(self, request: Request) -> Response:
        return JSONResponse(self.resource) if self.resource is not None else Response(status_code=404)

    async def _metadata(self, request: Request) -> Response:
        return JSONResponse(self.metadata) if self.metadata is not None else Response(status_code=404)

    async def _register(self, request: Request) -> Response:
        self.registered.append(await request.json())
        return JSONResponse({**self.registered[-1], "client_id": f"client-{len(self.registered)}"}, 201)

    async def _authorize(self, request: Request) -> Response:
        given = {"code": "one-time", "state": request.query_params["state"], **self.back}
        answer = {name: value for name, value in given.items() if value}
        return RedirectResponse(f"{request.query_params['redirect_uri']}?{urlencode(answer)}")

    async def _token(self, request: Request) -> Response:
        self.forms.append({key: values[0] for key, values in parse_qs((await request.body()).decode()).items()})
        return self.token_answer(self.forms[-1])

    async def _device(self, request: Request) -> Response:
        where = f"{self.base}/enter"
        return JSONResponse({"device_code": "d", "user_code": "AB-CD", "verification_uri": where, "interval": 1})


@asynccontextmanager
async def fake_server() -> AsyncIterator[FakeServer]:
    listener = bind("127.0.0.1", 0)
    found = FakeServer(f"http://127.0.0.1:{port_of(listener)}")
    async with listening(Starlette(routes=found.routes()), listener):
        yield found


def visit(url: str) -> httpx2.Response:
    """Open a page as a browser does, up to the one that says the person may close it."""
    return httpx2.get(url, follow_redirects=True, timeout=60)


def query(url: str) -> dict[str, str]:
    return {key: values[0] for key, values in parse_qs(urlsplit(url).query).items()}
