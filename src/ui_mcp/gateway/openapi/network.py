"""The HTTP connections of one API: for its calls, its token endpoint, its files, and for finding its document."""

from collections.abc import Mapping
from functools import cached_property
from urllib.parse import urlsplit

import httpx2

from ui_mcp.errors import UpstreamError
from ui_mcp.gateway.config.parse import MAX_BYTES
from ui_mcp.gateway.config.settings import TargetSettings
from ui_mcp.gateway.openapi.auth import header_of
from ui_mcp.gateway.openapi.discover import Discovery, discover
from ui_mcp.gateway.openapi.fetch import is_loopback, is_url
from ui_mcp.gateway.openapi.guarded import GuardedTransport, tls
from ui_mcp.http_client import open_client
from ui_mcp.jsontypes import Json, loads


class Network:
    """Opens connections when they are first needed; `aclose` closes them."""

    def __init__(self, settings: TargetSettings) -> None:
        self.settings = settings
        self._clients: dict[tuple[str, bool], httpx2.AsyncClient] = {}

    async def aclose(self) -> None:
        for name in ("_connections", "_guarded"):
            held: httpx2.AsyncHTTPTransport | httpx2.AsyncClient | None = vars(self).get(name)
            if held is not None:
                await held.aclose()

    @cached_property
    def _connections(self) -> httpx2.AsyncHTTPTransport:
        # Lazy: reading the system's certificates takes 0.1 s, which start-up should not wait for.
        return httpx2.AsyncHTTPTransport(verify=tls(), proxy=self.settings.proxy, trust_env=False)

    def client(self, principal: str, host: str, redirected: bool) -> httpx2.AsyncClient:
        """Return a principal's client: all share the connections, each has its own cookies.

        Hosts that only a redirect or a document from the network names are refused if their address is private.
        """
        named = host in _configured_hosts(self.settings) or self.settings.proxy is not None
        guarded = not named and (redirected or not self._is_from_this_machine)
        key = (principal, guarded)
        if key not in self._clients:
            transport = (
                GuardedTransport(_configured_hosts(self.settings), self._connections) if guarded else self._connections
            )
            self._clients[key] = open_client(transport, timeout=self.settings.timeout_s)
        return self._clients[key]

    @property
    def _is_from_this_machine(self) -> bool:
        """Whether the document comes from this machine, so that it may name servers on this machine."""
        spec = self.settings.spec
        return (bool(spec) and not is_url(spec)) or is_loopback(urlsplit(spec or self.settings.base_url).hostname or "")

    @cached_property
    def _guarded(self) -> httpx2.AsyncClient:
        """Client for URLs that come from a document or a caller: token endpoints and files."""
        return open_client(GuardedTransport(_configured_hosts(self.settings)), timeout=10.0, follow_redirects=True)

    async def discover(self, base: str) -> Discovery:
        """Look for documents at the base URL."""
        guard, secret = GuardedTransport(_configured_hosts(self.settings)), header_of(self.settings.spec_auth)
        async with open_client(guard, limit=MAX_BYTES, bound=secret, origin=base, timeout=10.0) as client:
            return await discover(base, client)

    async def download(self, url: str) -> bytes:
        """Return a file that a caller named.

        Raises:
            UpstreamError: it cannot be fetched.
        """
        try:
            answer = await self._guarded.get(url)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise UpstreamError(f"Cannot fetch {url}: {error or type(error).__name__}") from error
        if answer.is_error:
            raise UpstreamError(f"{url} answered HTTP {answer.status_code}")
        return answer.content

    async def post_form(self, url: str, fields: Mapping[str, str], headers: Mapping[str, str]) -> tuple[int, Json]:
        """Return status and JSON of a token endpoint's answer, None for what is not JSON.

        Raises:
            UpstreamError: it cannot be reached.
        """
        try:
            # No redirects: they would pass the client secret on.
            answer = await self._guarded.post(url, data=dict(fields), headers=dict(headers), follow_redirects=False)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise UpstreamError(f"Cannot reach {url}: {error or type(error).__name__}") from error
        try:
            return answer.status_code, loads(answer.content)
        except ValueError:
            return answer.status_code, None


def _configured_hosts(settings: TargetSettings) -> set[str]:
    """Return the hosts that the user configured; these may have private addresses."""
    token_urls = (
        [settings.auth.token_url, *(s.token_url for s in settings.auth.schemes.values())] if settings.auth else []
    )
    urls = [settings.base_url, settings.spec, *token_urls]
    return {urlsplit(url).hostname or "" for url in urls if url} | set(settings.refs.allow_hosts)
