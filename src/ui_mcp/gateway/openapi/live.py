"""Finds and caches the document of one API, and reloads it when it changes."""

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
import httpx2

from ui_mcp.errors import ConfigError, UpstreamError
from ui_mcp.file_watcher import Rest
from ui_mcp.files import PRIVATE, write_atomic
from ui_mcp.gateway.config.parse import MAX_BYTES, Notes
from ui_mcp.gateway.config.settings import GatewaySettings, TargetSettings
from ui_mcp.gateway.openapi.auth import Credentials, Tokens, configured, header_of
from ui_mcp.gateway.openapi.discover import Discovery, discover, slugs
from ui_mcp.gateway.openapi.document import Document, load
from ui_mcp.gateway.openapi.fetch import Fetched, Fetcher, GuardedTransport, is_loopback, is_url, tls
from ui_mcp.gateway.openapi.files import Files
from ui_mcp.gateway.openapi.model import Api
from ui_mcp.gateway.openapi.operations import read_api
from ui_mcp.gateway.openapi.response import Limits, Responses
from ui_mcp.gateway.openapi.send import Sender
from ui_mcp.gateway.openapi.target import Parts, Target
from ui_mcp.gateway.results import ResultStore
from ui_mcp.gateway.sanitize import SecretMasker
from ui_mcp.http_client import open_client, same_origin
from ui_mcp.isolation import Boundary
from ui_mcp.jsontypes import Json, dumps, loads
from ui_mcp.log import logger

_VERSION = 1
"""Format of the cache files; files of another version are ignored."""
_log = logger("gateway.cache")


@dataclass(frozen=True, slots=True)
class CachedDocument:
    document: Document
    etag: str
    modified: str


class DocumentCache:
    """Documents on disk, one file with mode 0600 per source; never contains credentials."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self, source: str) -> CachedDocument | None:
        """Return the last good document of a source; None if there is none or its file is unreadable."""
        try:
            held = loads(self._file(source).read_bytes())
        except (OSError, ValueError):
            return None
        if not isinstance(held, dict) or held.get("version") != _VERSION or held.get("source") != source:
            return None
        match held:
            case {"location": str(where), "files": dict(files), "etag": str(etag), "modified": str(modified)}:
                return CachedDocument(Document(where, files, Notes()), etag, modified) if where in files else None
        return None

    def save(self, source: str, document: Document, *, etag: str = "", modified: str = "") -> None:
        """Replace the cached document of a source; a failure is logged, since the cache only saves time."""
        held = {
            "version": _VERSION,
            "source": source,
            "location": document.location,
            "files": document.files,
            "etag": etag,
            "modified": modified,
        }
        try:
            text = dumps(held)
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_atomic(self._file(source), text.encode(), mode=PRIVATE)
        except (OSError, TypeError, ValueError) as error:
            _log.warning("cannot write the cache in %s: %s", self._folder, error)

    def _file(self, source: str) -> Path:
        return self._folder / f"{sha256(source.encode()).hexdigest()[:32]}.json"


AGENT = "ui-mcp"
_FILE_POLL = 1.0
"""Seconds between checks of the document's files where the system reports no changes."""

_CLOCK_TICK = 0.1
"""Seconds by which a file's modification time may lag behind the clock."""


class LiveTarget:
    """Owns the connections and the document of one API; `source` is its part of the gateway's catalog."""

    def __init__(
        self,
        settings: TargetSettings,
        *,
        cache: DocumentCache,
        store: ResultStore,
        masker: SecretMasker,
        limits: Limits = Limits(),
        budget: int = 4_000,
    ) -> None:
        self.settings = settings
        self.discovery = Discovery()
        self.first = anyio.Event()
        """Set after the first attempt to read the document, successful or not."""
        self._cache = cache
        given = configured(settings.auth)
        self.credentials = Credentials(
            {}, given, Tokens(self._post_form), strict=bool(settings.auth and settings.auth.strict)
        )
        parts = Parts(
            credentials=self.credentials,
            sender=Sender(self._client, AGENT, settings.concurrency),
            files=Files(tuple(Path(root).expanduser() for root in settings.files.roots), self._download),
            responses=Responses(store, masker),
            masker=masker,
        )
        masker.add(self.credentials.secrets())
        self.source = Target(settings, parts, limits, budget)
        self.boundary = Boundary(f"target {settings.name}", self._record_error)
        self._clients: dict[tuple[str, bool], httpx2.AsyncClient] = {}
        self._etag = self._modified = ""
        self._location = settings.spec
        self._mtimes: dict[str, float] = {}
        """Modification time of each file of the document when it was read."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name in ("_connections", "_guarded"):
            held: httpx2.AsyncHTTPTransport | httpx2.AsyncClient | None = vars(self).get(name)
            if held is not None:
                await held.aclose()

    @cached_property
    def _connections(self) -> httpx2.AsyncHTTPTransport:
        # Lazy: reading the system's certificates takes 0.1 s, which start-up should not wait for.
        return httpx2.AsyncHTTPTransport(verify=tls(), proxy=self.settings.proxy, trust_env=False)

    def _client(self, principal: str, host: str, redirected: bool) -> httpx2.AsyncClient:
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
        host = urlsplit(self.settings.spec or self.settings.base_url).hostname or ""
        return self.is_local or is_loopback(host)

    @cached_property
    def _guarded(self) -> httpx2.AsyncClient:
        """Client for URLs that come from a document or a caller: token endpoints and files."""
        return open_client(GuardedTransport(_configured_hosts(self.settings)), timeout=10.0, follow_redirects=True)

    @property
    def is_local(self) -> bool:
        """Whether the document is a file; start-up always waits for it to be read."""
        return bool(self.settings.spec) and not is_url(self.settings.spec)

    def start_from_cache(self) -> bool:
        """Offer the tools of the cached document, marked stale; return whether there is one."""
        with self.boundary:
            cached = self._cache.load(self._key)
            if cached is not None:
                self.source.adopt(self._read_api(cached.document), stale=True)
                self._etag, self._modified = cached.etag, cached.modified
                return True
        return False

    async def refresh(self) -> bool:
        """Read the document again and return whether the tools changed; on failure the old tools stay."""
        with self.boundary:
            return await self._reload()
        return False

    async def _reload(self) -> bool:
        began = time.time()
        found = await self._read()
        if found is None:
            self.source.stale, self.source.error = False, ""  # HTTP 304: the cached document is current
            return False
        document, fetched = found
        etag, modified = _header(fetched, "etag"), _header(fetched, "last-modified")
        api = await anyio.to_thread.run_sync(self._read_api, document)
        mtimes = await anyio.to_thread.run_sync(_mtimes, document, began - _CLOCK_TICK)
        changed = self.source.adopt(api)
        self._etag, self._modified, self._mtimes = etag, modified, mtimes
        await anyio.to_thread.run_sync(lambda: self._cache.save(self._key, document, etag=etag, modified=modified))
        return changed

    def _record_error(self, message: str) -> None:
        self.source.error = message

    def _read_api(self, document: Document) -> Api:
        return read_api(document, self.settings.server_variables, outputs=self.settings.output_schemas)

    async def follow(self, changed: Callable[[], None]) -> None:
        """Reload the document whenever it changes, until cancelled; call `changed` when the tools changed."""
        with closing(Rest(_FILE_POLL)) as rest:
            await self._follow(changed, rest)

    async def _follow(self, changed: Callable[[], None], rest: Rest) -> None:
        wait = 1.0
        while True:
            # Without a current document: retry with back-off, from 1 s up to 60 s.
            if self.source.api is None or self.source.stale:
                await anyio.sleep(wait)
                wait = min(wait * 2, 60.0)
            elif self.is_local:
                await rest.wait_changed(map(Path, self._mtimes))
                current = await anyio.to_thread.run_sync(_current_mtimes, self._mtimes)
                if current == self._mtimes:
                    continue
                self._mtimes = current  # before reloading: a broken file is not read again until it changes
            elif self.settings.reload_s > 0:
                await anyio.sleep(self.settings.reload_s)
            else:
                return
            was_stale = self.source.stale
            if await self.refresh() or was_stale != self.source.stale:
                changed()

    async def _read(self) -> tuple[Document, Fetched] | None:
        location = self._location or await self._discover()
        conditions = {} if self.source.api is None else {"etag": self._etag, "modified": self._modified}
        headers = header_of(self.settings.spec_auth)
        allowed = frozenset(self.settings.refs.allow_hosts)
        named = self.settings.spec or self.settings.base_url
        async with Fetcher(location, allow_hosts=allowed, headers=headers, origin=named) as fetcher:
            fetched = await fetcher.root(**conditions)
            if fetched is None:
                return None
            document = await load(fetcher, fetched)
        self._location = location
        return document, fetched

    async def _discover(self) -> str:
        base = self.settings.base_url
        if not base:
            raise ConfigError(f"Target {self.settings.name} needs base_url or spec")
        guard, secret = GuardedTransport(_configured_hosts(self.settings)), header_of(self.settings.spec_auth)
        async with open_client(guard, limit=MAX_BYTES, bound=secret, origin=base, timeout=10.0) as client:
            self.discovery = await discover(base, client)
        if self.discovery.unreachable:
            raise UpstreamError(
                f"Nothing answers at {base}: {self.discovery.unreachable}\nStart the API, or check base_url."
            )
        if not self.discovery.found:
            hints = [tried for tried in self.discovery.tried if "credentials" in tried.outcome]
            why = f"{hints[0].url}: {hints[0].outcome}" if hints else f"{len(self.discovery.tried)} places tried"
            raise UpstreamError(f"No OpenAPI document found at {base} ({why})\nSet spec to its address.")
        return self.discovery.found[0]

    def siblings(self) -> list[TargetSettings]:
        """Return one target per document if discovery found several at the base URL; else an empty list."""
        found = self.discovery.found
        if len(found) < 2 or self.settings.spec:
            return []
        named = zip(slugs(found), found, strict=True)
        return [self._sibling(f"{self.settings.name}_{slug}", url) for slug, url in named]

    def _sibling(self, name: str, spec: str) -> TargetSettings:
        # The credential is meant for the origin of base_url only.
        auth = self.settings.spec_auth if same_origin(spec, self.settings.base_url) else None
        return replace(self.settings, name=name, spec=spec, spec_auth=auth)

    async def _download(self, url: str) -> bytes:
        try:
            answer = await self._guarded.get(url)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise UpstreamError(f"Cannot fetch {url}: {error or type(error).__name__}") from error
        if answer.is_error:
            raise UpstreamError(f"{url} answered HTTP {answer.status_code}")
        return answer.content

    async def _post_form(self, url: str, fields: Mapping[str, str], headers: Mapping[str, str]) -> tuple[int, Json]:
        try:
            # No redirects: they would pass the client secret on.
            answer = await self._guarded.post(url, data=dict(fields), headers=dict(headers), follow_redirects=False)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise UpstreamError(f"Cannot reach {url}: {error or type(error).__name__}") from error
        try:
            return answer.status_code, loads(answer.content)
        except ValueError:
            return answer.status_code, None

    @property
    def _key(self) -> str:
        return f"{self.settings.name}|{self.settings.spec or self.settings.base_url}"


def _configured_hosts(settings: TargetSettings) -> set[str]:
    """Return the hosts that the user configured; these may have private addresses."""
    token_urls = (
        [settings.auth.token_url, *(s.token_url for s in settings.auth.schemes.values())] if settings.auth else []
    )
    urls = [settings.base_url, settings.spec, *token_urls]
    return {urlsplit(url).hostname or "" for url in urls if url} | set(settings.refs.allow_hosts)


def _header(fetched: Fetched, name: str) -> str:
    return next((value for key, value in fetched.headers.items() if key.lower() == name), "")


def _mtimes(document: Document, read_at: float) -> dict[str, float]:
    """Return the modification time of each file; 0 for a file that changed while it was being read."""
    found = _current_mtimes(file for file in document.files if not is_url(file))
    now = time.time()
    return {file: 0.0 if read_at <= changed <= now else changed for file, changed in found.items()}


def _current_mtimes(files: Iterable[str]) -> dict[str, float]:
    return {file: Path(file).stat().st_mtime if Path(file).exists() else 0.0 for file in files}


MakeTarget = Callable[[TargetSettings, GatewaySettings], LiveTarget]
"""Returns an API as a source, within the limits of the gateway's settings."""


def target_factory(cache: Path, store: ResultStore, masker: SecretMasker) -> MakeTarget:
    """Return what makes the APIs of one gateway, which share caches and secrets."""

    def make(given: TargetSettings, settings: GatewaySettings) -> LiveTarget:
        limits = Limits(settings.results.max_bytes, settings.results.max_rows)
        return LiveTarget(
            given,
            cache=DocumentCache(cache),
            store=store,
            masker=masker,
            limits=limits,
            budget=settings.catalogue.tool_budget,
        )

    return make
