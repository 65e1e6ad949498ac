"""Finds and caches the document of one API, and reloads it when it changes."""

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

import anyio
import anyio.to_thread

from ui_mcp.discovery import lazy
from ui_mcp.errors import ConfigError, UpstreamError
from ui_mcp.file_watcher import Rest
from ui_mcp.files import PRIVATE, write_atomic
from ui_mcp.gateway.config.notes import Notes
from ui_mcp.gateway.config.settings import GatewaySettings, TargetSettings
from ui_mcp.gateway.openapi.auth import Credentials, Tokens, configured, header_of
from ui_mcp.gateway.openapi.document import Document, load
from ui_mcp.gateway.openapi.fetch import Fetched, Fetcher, is_url
from ui_mcp.gateway.openapi.model import Api, Scheme
from ui_mcp.gateway.openapi.operations import read_api
from ui_mcp.gateway.openapi.target import Caller, Target
from ui_mcp.gateway.results import Limits, ResultStore
from ui_mcp.gateway.sanitize import SecretMasker
from ui_mcp.gateway.source import Entry
from ui_mcp.isolation import Boundary
from ui_mcp.jsontypes import Json, dumps, loads
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.log import logger

if TYPE_CHECKING:
    from ui_mcp.gateway.config.sign_in import FlowUrls, target_entries, target_place
    from ui_mcp.gateway.openapi.calls import open_caller
    from ui_mcp.gateway.openapi.discover import Discovery
    from ui_mcp.gateway.openapi.network import Network
    from ui_mcp.oauth.account import Account
else:
    FlowUrls = lazy("ui_mcp.gateway.config.sign_in:FlowUrls")
    target_entries = lazy("ui_mcp.gateway.config.sign_in:target_entries")
    target_place = lazy("ui_mcp.gateway.config.sign_in:target_place")
    Account = lazy("ui_mcp.oauth.account:Account")
    open_caller = lazy("ui_mcp.gateway.openapi.calls:open_caller")
    Network = lazy("ui_mcp.gateway.openapi.network:Network")

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


_FILE_POLL = 1.0
"""Seconds between checks of the document's files where the system reports no changes."""

_CLOCK_TICK = 0.1
"""Seconds by which a file's modification time may lag behind the clock."""


Admit = Callable[[str, str, Sequence[Entry]], Awaitable[frozenset[str]]]
"""Given a source, its place and its tools, returns the names of the tools that are held back."""


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
        admit: Admit | None = None,
    ) -> None:
        self.settings = settings
        self.discovery: Discovery | None = None
        """What was looked for at the base URL; None if nothing had to be."""
        self.first = anyio.Event()
        """Set after the first attempt to read the document, successful or not."""
        self._cache = cache
        self._admit = admit
        given = configured(settings.auth)
        strict = bool(settings.auth and settings.auth.strict)
        self.credentials = Credentials({}, given, Tokens(self._post_form), strict=strict, account=self.account)
        self._store = store
        self._limits = limits
        masker.add(self.credentials.secrets())
        self.source = Target(settings, self.credentials, masker, self._open_caller, budget)
        self.boundary = Boundary(f"target {settings.name}", self._record_error)
        self._etag = self._modified = self._digest = ""
        self._location = settings.spec
        self._mtimes: dict[str, float] = {}
        """Modification time of each file of the document when it was read."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        network: Network | None = vars(self).get("_network")
        if network is not None:
            await network.aclose()

    @cached_property
    def _network(self) -> "Network":
        return Network(self.settings)

    def _open_caller(self, target: Target) -> Caller:
        return open_caller(target, self._network, self._store, self._limits)

    async def _post_form(self, url: str, fields: Mapping[str, str], headers: Mapping[str, str]) -> tuple[int, Json]:
        return await self._network.post_form(url, fields, headers)

    def account(self, part: str, scheme: Scheme | None = None) -> "Account":
        """Return the person's account at this API, by the name of its scheme ("" for any).

        Raises:
            UpstreamError: the document wants the sign-in at an address that is not safe.
        """
        schemes = self.source.api.schemes if self.source.api else {}
        known = [schemes.get(part) or scheme, *schemes.values()]
        one = next((one for one in known if one and (one.sign_in_token_url or one.metadata_url)), None)
        urls = (
            FlowUrls(one.authorization_url, one.sign_in_token_url, one.device_url, one.metadata_url)
            if one
            else FlowUrls()
        )
        entry = dict(target_entries(self.settings))[part]
        return Account(target_place(self.settings, part, entry, urls))

    @property
    def is_local(self) -> bool:
        """Whether the document is a file; start-up always waits for it to be read."""
        return bool(self.settings.spec) and not is_url(self.settings.spec)

    async def start_from_cache(self) -> bool:
        """Offer the tools of the cached document, marked stale; return whether there is one."""
        with self.boundary:
            cached = self._cache.load(self._key)
            if cached is not None:
                await self._adopt(self._read_api(cached.document), stale=True)
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
        digest = await anyio.to_thread.run_sync(_digest, document)
        mtimes = await anyio.to_thread.run_sync(_mtimes, document, began - _CLOCK_TICK)
        if digest and digest == self._digest and (etag, modified) == (self._etag, self._modified):
            self._mtimes = mtimes
            self.source.stale, self.source.error = False, ""
            return False
        api = await anyio.to_thread.run_sync(self._read_api, document)
        changed = await self._adopt(api)
        self._etag, self._modified, self._mtimes, self._digest = etag, modified, mtimes, digest
        await anyio.to_thread.run_sync(lambda: self._cache.save(self._key, document, etag=etag, modified=modified))
        return changed

    async def compare_again(self) -> bool:
        """Offer what a person has accepted since the document was read; return whether the tools changed."""
        return self.source.api is not None and await self._adopt(self.source.api, stale=self.source.stale)

    async def _adopt(self, api: Api, *, stale: bool = False) -> bool:
        if self._admit is None or self.is_local:  # a file changes when its owner changes it
            return self.source.adopt(api, stale=stale)
        tools = self.source.tools_of(api)
        held = await self._admit(self.settings.name, self._key, tools.entries)
        return self.source.adopt(api, tools, held, stale=stale)

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
        found = self.discovery = await self._network.discover(base)
        if found.unreachable:
            raise UpstreamError(f"Nothing answers at {base}: {found.unreachable}\nStart the API, or check base_url.")
        if not found.found:
            hints = [tried for tried in found.tried if "credentials" in tried.outcome]
            why = f"{hints[0].url}: {hints[0].outcome}" if hints else f"{len(found.tried)} places tried"
            raise UpstreamError(f"No OpenAPI document found at {base} ({why})\nSet spec to its address.")
        return found.found[0]

    def siblings(self) -> list[TargetSettings]:
        """Return one target per document if discovery found several at the base URL; else an empty list."""
        return self.discovery.siblings(self.settings) if self.discovery is not None else []

    @property
    def _key(self) -> str:
        return f"{self.settings.name}|{self.settings.spec or self.settings.base_url}"


def _digest(document: Document) -> str:
    """Return what tells a document from its next version; "" if it cannot be computed."""
    try:
        text = dumps([document.location, document.files, repr(document.notes.all())])
    except (TypeError, ValueError):
        return ""
    return sha256(text.encode()).hexdigest()


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


def target_factory(cache: Path, store: ResultStore, masker: SecretMasker, admit: Admit | None = None) -> MakeTarget:
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
            admit=admit if settings.policy.pin_tools else None,
        )

    return make
