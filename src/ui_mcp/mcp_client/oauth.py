"""Signs in to servers that ask for OAuth: in the person's browser, by the SDK's OAuth client (extra `oauth`)."""

import html
import socket
from collections.abc import Callable
from contextlib import AsyncExitStack
from hashlib import sha256
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import anyio
from anyio import to_thread
from anyio.abc import SocketListener, SocketStream
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl, BaseModel, ValidationError

from ui_mcp.default_browser import BrowserError, open_default_browser
from ui_mcp.errors import UpstreamError
from ui_mcp.files import PRIVATE, write_atomic
from ui_mcp.person import state_folder

SIGN_IN_SECONDS = 300.0
_PAGE = """\
<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark">
<title>ui-mcp</title></head><body style="font: 1.1rem system-ui; margin: 3rem"><p>{text}</p></body></html>
"""


def provider(url: str, report: Callable[[str], None], folder: Path | None = None) -> OAuthClientProvider:
    """Return what signs requests to a server; it asks the person to sign in when it has no valid token."""
    tokens = Tokens((folder or state_folder() / "mounts") / f"{sha256(url.encode()).hexdigest()[:32]}.json")
    sign_in = SignIn(report, tokens.registered_port())
    tokens.redirect_url = sign_in.redirect_url
    return OAuthClientProvider(
        url,
        OAuthClientMetadata(
            client_name="ui-mcp",
            redirect_uris=[AnyUrl(sign_in.redirect_url)],
            grant_types=["authorization_code", "refresh_token"],
            response_types=["code"],
            token_endpoint_auth_method="none",  # noqa: S106 - the name of a method, not a password
        ),
        tokens,
        redirect_handler=sign_in.ask,
        callback_handler=sign_in.answer,
    )


class Saved(BaseModel):
    """What a server's file holds."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None


class Tokens:
    """The tokens of one server, in a file of mode 0600 that app code and MCP tools cannot read."""

    redirect_url: str

    def __init__(self, file: Path) -> None:
        self._file = file

    def registered_port(self) -> int:
        """Return the port at which the server expects the person back; 0 if we are not registered there."""
        client = self._load().client
        return next((url.port or 0 for url in client.redirect_uris or ()), 0) if client else 0

    async def get_tokens(self) -> OAuthToken | None:
        return self._load().tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self._save(self._load().model_copy(update={"tokens": tokens}))

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        client = self._load().client
        known = {str(url) for url in client.redirect_uris or ()} if client else set()
        return client if self.redirect_url in known else None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._save(self._load().model_copy(update={"client": client_info}))

    def _load(self) -> Saved:
        try:
            return Saved.model_validate_json(self._file.read_bytes())
        except (OSError, ValidationError):
            return Saved()

    def _save(self, saved: Saved) -> None:
        write_atomic(self._file, saved.model_dump_json(exclude_none=True).encode(), mode=PRIVATE)


class SignIn:
    """Opens the authorization page and receives the code at a loopback port."""

    def __init__(self, report: Callable[[str], None], port: int) -> None:
        self._report = report
        # Bound now, because the address is registered before the person is sent away.
        self._socket = _bound(port)
        self.redirect_url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/callback"

    async def ask(self, url: str) -> None:
        self._socket.listen()  # the browser may be back before `answer` is called
        self._report(f"Sign in at {url}")
        try:
            await to_thread.run_sync(open_default_browser, url)
        except BrowserError as error:
            self._report(error.message)

    async def answer(self) -> AuthorizationCodeResult:
        """Wait for the person.

        Raises:
            UpstreamError: they refused, or did not come back.
        """
        with anyio.move_on_after(SIGN_IN_SECONDS):
            return await self._received()
        raise UpstreamError(f"The sign-in was not finished within {SIGN_IN_SECONDS:g} s", fatal=True)

    async def _received(self) -> AuthorizationCodeResult:
        found: list[dict[str, list[str]]] = []
        async with AsyncExitStack() as stack:
            listener = await stack.enter_async_context(await SocketListener.from_socket(self._socket.dup()))

            async def handle(stream: SocketStream) -> None:
                async with stream:
                    query = _query(await stream.receive())
                    if query is not None:
                        found.append(query)
                    await stream.send(_page(query))
                if found:
                    tasks.cancel_scope.cancel()

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(listener.serve, handle)
        given = {key: values[0] for key, values in found[0].items()}
        if "code" not in given:
            raise UpstreamError(f"The sign-in was refused: {given.get('error', 'there is no code')}", fatal=True)
        return AuthorizationCodeResult(code=given["code"], state=given.get("state"), iss=given.get("iss"))


def _bound(port: int) -> socket.socket:
    """Return a socket at a port, or at any free one if another program has it."""
    for one in (port, 0):
        found = socket.socket()
        try:
            found.bind(("127.0.0.1", one))
        except OSError:
            found.close()
        else:
            return found
    raise UpstreamError("There is no free port to come back to after the sign-in", fatal=True)


def _query(request: bytes) -> dict[str, list[str]] | None:
    """Return the query of a request for the redirect URL, or None for any other request."""
    target = request.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
    parts = urlsplit(target[1]) if len(target) == 3 and target[0] == "GET" else None
    return parse_qs(parts.query) if parts is not None and parts.path == "/callback" else None


def _page(query: dict[str, list[str]] | None) -> bytes:
    if query is None:
        return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    refused = query.get("error_description") or query.get("error")
    text = f"Not signed in: {refused[0]}" if refused else "You are signed in. You can close this page."
    body = _PAGE.format(text=html.escape(text)).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + body
