"""Finds the OpenAPI document of an API, given only its base URL."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import urljoin, urlsplit

import anyio
import httpx2

from ui_mcp.errors import UiMcpError
from ui_mcp.gateway.config.parse import is_openapi, parse
from ui_mcp.gateway.config.settings import TargetSettings
from ui_mcp.http_client import same_origin
from ui_mcp.jsontypes import loads

_BUDGET = 15.0
"""Seconds for the whole search."""
_PAGE = 512 * 1024
"""Characters of a page that are searched."""
_LINKS = 4096
"""Characters of a Link header that are searched: the regular expression is quadratic on hostile ones."""
_RELATIONS = frozenset({"service-desc", "service-meta", "describedby"})
_VERSIONED = tuple(f"/{prefix}v{n}/openapi.json" for prefix in ("api/", "") for n in (1, 2, 3))
WELL_KNOWN: tuple[str, ...] = (
    *(f"/openapi{ending}" for ending in (".json", ".yaml", ".yml")),
    *(f"/.well-known/openapi{ending}" for ending in ("", ".json", ".yaml")),
    "/.well-known/api-catalog",
    *("/swagger.json", "/swagger.yaml", "/swagger/doc.json"),
    *(f"/{version}/api-docs{ending}" for version in ("v3", "v2") for ending in ("", ".yaml")),
    *(f"/api-docs{ending}" for ending in ("", ".json", ".yaml")),
    *("/docs/openapi.json", "/docs/openapi.yaml", "/docs/swagger.json"),
    *("/api/swagger.json", "/api/openapi.json", "/api/openapi.yaml", "/api/docs", "/api/schema/"),
    *("/openapi", "/docs/openapi", "/openapi/v1.json", "/openapi/v3", "/q/openapi"),
    *("/swagger/v1/swagger.json", "/swagger/v2/swagger.json"),
    *("/api-docs/v1/swagger.json", "/api-docs/v1/swagger.yaml", "/api/api-docs", "/api/v1/api-docs"),
    *("/api-json", "/docs-json"),
    *_VERSIONED,
    *("/api/v1/swagger.json", "/api/v2/swagger.json"),
)
PAGES: tuple[str, ...] = (
    "/swagger-ui.html",
    "/swagger-ui/index.html",
    "/swagger",
    "/docs",
    "/api/docs",
    "/redoc",
    "/api-docs/swagger-config",
    "/v3/api-docs/swagger-config",
    "/swagger-ui/swagger-initializer.js",
)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One URL that was tried, and the result in words."""

    url: str
    outcome: str


@dataclass(slots=True)
class Discovery:
    """The documents that were found, and every URL that was tried."""

    found: list[str] = field(default_factory=list)
    tried: list[Attempt] = field(default_factory=list)
    unreachable: str = ""
    """Why the base URL cannot be connected to; empty if it can."""

    def siblings(self, settings: TargetSettings) -> list[TargetSettings]:
        """Return one target per document if several were found for these settings; else an empty list."""
        if len(self.found) < 2 or settings.spec:
            return []
        named = zip(slugs(self.found), self.found, strict=True)
        return [_sibling(settings, f"{settings.name}_{slug}", url) for slug, url in named]


def _sibling(settings: TargetSettings, name: str, spec: str) -> TargetSettings:
    # The credential is meant for the origin of base_url only.
    auth = settings.spec_auth if same_origin(spec, settings.base_url) else None
    return replace(settings, name=name, spec=spec, spec_auth=auth)


async def discover(base_url: str, client: httpx2.AsyncClient) -> Discovery:
    """Probe the base URL, then well-known paths, then documentation pages; stop at the first stage that finds some."""
    probe = _Probe(client)
    with anyio.move_on_after(_BUDGET) as scope:
        await probe.run(base_url.rstrip("/"))
    if scope.cancelled_caught:
        probe.result.tried.append(Attempt(base_url, f"gave up after {_BUDGET:.0f} s"))
    return probe.result


class _Probe:
    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client
        self._seen: set[str] = set()
        self.result = Discovery()

    async def run(self, base: str) -> None:
        page = await self._get(base or "/")
        if self.result.unreachable:
            return
        if page is not None and self._accept(base, page):
            return
        if page is not None and await self._accept_first(_linked(page, base)):
            return
        candidates = [root + path for path in WELL_KNOWN for root in _roots(base)]
        # Eight at a time: likely paths come first, so most searches end with the first group.
        for start in range(0, len(candidates), 8):
            if await self._accept_first(candidates[start : start + 8]):
                return
        for path in PAGES:
            for root in _roots(base):
                page = await self._get(root + path)
                if page is not None and await self._accept_all(_in_page(page.text[:_PAGE], root + path)):
                    return

    async def _accept_first(self, urls: Iterable[str]) -> bool:
        """Fetch the candidates concurrently; accept the first in order that is a document."""
        pages: dict[str, httpx2.Response | None] = {}

        async def one(url: str) -> None:
            pages[url] = await self._get(url)

        wanted = [url for url in dict.fromkeys(urls) if url not in self._seen]
        async with anyio.create_task_group() as group:
            for url in wanted:
                group.start_soon(one, url)
        answered = [(url, page) for url in wanted if (page := pages[url]) is not None]
        return any(self._accept(url, page) for url, page in answered)

    async def _accept_all(self, urls: list[str]) -> bool:
        """Accept every document that a page refers to."""
        before = len(self.result.found)
        for url in urls[:20]:
            page = await self._get(url)
            if page is not None:
                self._accept(url, page)
        return len(self.result.found) > before

    async def _get(self, url: str) -> httpx2.Response | None:
        if url in self._seen:
            return None
        self._seen.add(url)
        try:
            answer = await self._client.get(url, timeout=5.0, follow_redirects=True)
        except (httpx2.HTTPError, httpx2.InvalidURL, UiMcpError) as error:
            self._record(url, f"no answer: {error or type(error).__name__}")
            # The first request goes to the base URL: without a connection the other candidates are hopeless too.
            if isinstance(error, httpx2.ConnectError) and len(self._seen) == 1:
                self.result.unreachable = str(error) or type(error).__name__
            return None
        if answer.status_code in {401, 403}:
            self._record(url, f"found, needs credentials (HTTP {answer.status_code}); set spec_auth")
            return None
        if answer.is_error:
            self._record(url, f"HTTP {answer.status_code}")
            return None
        return answer

    def _accept(self, url: str, page: httpx2.Response) -> bool:
        if page.text.lstrip()[:1] == "<":
            self._record(url, "a web page, not a document")
            return False
        try:
            is_document = is_openapi(parse(page.content))
        except UiMcpError as error:
            self._record(url, error.message.splitlines()[0][:200])
            return False
        self._record(url, "found" if is_document else "not an OpenAPI document")
        if is_document:
            self.result.found.append(url)
        return is_document

    def _record(self, url: str, outcome: str) -> None:
        self.result.tried.append(Attempt(url, outcome))


def slugs(urls: Sequence[str]) -> list[str]:
    """Return a short distinct name for each document: the last URL part in which all differ, else numbers."""
    words = [re.findall(r"[^/.?&=]+", url.partition("://")[2]) for url in urls]
    for position in range(1, min(map(len, words)) + 1):
        named = [line[-position] for line in words]
        if len(set(named)) == len(named):
            return named
    return [str(number) for number in range(1, len(urls) + 1)]


def _roots(base: str) -> list[str]:
    parts = urlsplit(base)
    origin = f"{parts.scheme}://{parts.netloc}"
    return list(dict.fromkeys((base, origin)))


def _linked(page: httpx2.Response, base: str) -> Iterator[str]:
    for match in re.finditer(r'<([^<>]+)>\s*;[^,]*rel="?([\w-]+)"?', page.headers.get("link", "")[:_LINKS]):
        if match[2] in _RELATIONS:
            yield urljoin(base + "/", match[1])
    for tag in re.findall(r"<link\b[^<>]*>", page.text[:_PAGE], re.IGNORECASE):
        # The attributes may be in any order.
        relation, target = re.search(r'rel="?([\w-]+)', tag), re.search(r'href="([^"]+)"', tag)
        if relation and target and relation[1] in _RELATIONS:
            yield urljoin(base + "/", target[1])


def _in_page(text: str, url: str) -> list[str]:
    """Return the document URLs in a Swagger UI, ReDoc or Scalar page, or in a Swagger UI configuration."""
    found: list[str] = []
    try:
        config = loads(text)
        entries = [config, *config.get("urls", [])] if isinstance(config, dict) else []
        found += [entry["url"] for entry in entries if isinstance(entry, dict) and isinstance(entry.get("url"), str)]
    except ValueError:
        pass
    patterns = (
        r"""["']?\burl["']?\s*:\s*["']([^"']+)["']""",
        r"""["']?configUrl["']?\s*:\s*["']([^"']+)["']""",
        r"""spec-url=["']([^"']+)["']""",
        r"""data-url=["']([^"']+)["']""",
    )
    for pattern in patterns:
        found += re.findall(pattern, text)
    # Swagger UI ships with the pet store as its default document.
    return [urljoin(url, target) for target in dict.fromkeys(found) if "petstore.swagger.io" not in target]
