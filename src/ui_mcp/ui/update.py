"""Asks a package index for the newest release; off unless the settings name an index."""

import re
from collections.abc import Iterable

import httpx2

from ui_mcp.errors import ConfigError, NotFoundError
from ui_mcp.http_client import open_client
from ui_mcp.jsontypes import Json, loads
from ui_mcp.version import Version

MAX_BYTES = 8 * 1024 * 1024
SECONDS = 15.0
_ACCEPT = "application/vnd.pypi.simple.v1+json, application/json;q=0.9, text/html;q=0.5"
_FILE = re.compile(r"ui[-_]mcp-(\d+\.\d+\.\d+(?:[-.]?[0-9A-Za-z.]+)?)(?:-py3|\.tar\.gz)")
OFF = 'Looking for updates is off\nSet index = "URL" under [update]: a package index, such as https://pypi.org/simple/ui-mcp/'


async def newest_release(index: str) -> Version:
    """Return the newest version that an index lists.

    Raises:
        ConfigError: no index is set.
        NotFoundError: it cannot be read, or lists no release.
    """
    if not index:
        raise ConfigError(OFF)
    try:
        async with open_client(limit=MAX_BYTES, timeout=SECONDS, trust_env=True) as client:
            answer = await client.get(index, headers={"Accept": _ACCEPT})
            answer.raise_for_status()
    except httpx2.HTTPError as error:
        raise NotFoundError(f"The index {index} cannot be read: {error}") from error
    found = newest(answer.text)
    if found is None:
        raise NotFoundError(f"The index {index} lists no release of ui-mcp")
    return found


def newest(text: str) -> Version | None:
    """Return the newest release in an index: JSON of the simple API, `{"version": …}`, or a page of links; pure."""
    try:
        said = loads(text)
    except ValueError:
        said = None
    names = _named(said) if said is not None else _FILE.findall(text)
    versions = [version for version in map(Version.parse, names) if version is not None]
    released = [version for version in versions if not version.pre]  # pre-releases only if there is nothing else
    return max(released or versions, default=None)


def _named(said: Json) -> Iterable[str]:
    if not isinstance(said, dict):
        return []
    info, versions = said.get("info"), said.get("versions")
    named = [said.get("version"), info.get("version") if isinstance(info, dict) else None]
    return [str(one) for one in (*named, *(versions if isinstance(versions, list) else ())) if one]
