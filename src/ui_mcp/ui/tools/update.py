"""`ui_update`: is there a newer release, and are the project's files those of this one?"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from anyio.to_thread import run_sync

from ui_mcp.discovery import lazy
from ui_mcp.errors import ConfigError, NotFoundError
from ui_mcp.jsontypes import Json, JsonObject, loads
from ui_mcp.toolkit.functions import tool
from ui_mcp.toolkit.tool import Annotations, Call
from ui_mcp.ui.base_dir.installer import install
from ui_mcp.ui.server import UiServer
from ui_mcp.version import Version, bundled_version

if TYPE_CHECKING:
    from ui_mcp.http_client import open_client
else:
    open_client = lazy("ui_mcp.http_client:open_client")

MAX_BYTES = 8 * 1024 * 1024
SECONDS = 15.0
_ACCEPT = "application/vnd.pypi.simple.v1+json, application/json;q=0.9, text/html;q=0.5"
_FILE = re.compile(r"ui[-_]mcp-(\d+\.\d+\.\d+(?:[-.]?[0-9A-Za-z.]+)?)(?:-py3|\.tar\.gz)")
OFF = 'Looking for updates is off\nSet index = "URL" under [update]: a package index, such as https://pypi.org/simple/ui-mcp/'


@dataclass(frozen=True, slots=True)
class UpdateArgs:
    """How far to go."""

    check: Annotated[bool, "Only report."] = False


@tool("ui_update", UpdateArgs, title="Update", annotations=Annotations(destructive=True, open_world=True))
async def update(host: UiServer, args: UpdateArgs, call: Call) -> JsonObject:
    """Update the project's files to this program's version, and tell if a newer one exists.

    When: the user asks for an update. Changed files are kept, under `conflicts`. Example: {"check": true}
    """
    configured = host.configured()
    current = bundled_version()
    report: JsonObject = {"current": current}
    try:
        latest = await newest_release(configured.config.update.index)
        known = Version.parse(current)
        newer = known is not None and latest > known
        report |= {"latest": str(latest), "needsUpdate": newer}
        if newer:
            report["hint"] = "The person can install it, the way this one was installed"
    except ConfigError as error:
        report |= {"needsUpdate": False, "hint": error.message}
    if args.check:
        return report
    done = await run_sync(lambda: install(configured.workspace))
    conflicts = [{"path": one.path, "reason": "user_modified", "merge_path": one.merge_path} for one in done.conflicts]
    return {
        **report,
        "updated": done.installed,
        "skipped": done.skipped,
        "conflicts": conflicts,
        "new_version": current,
    }


async def newest_release(index: str) -> Version:
    """Return the newest version that an index lists.

    Raises:
        ConfigError: no index is set.
        NotFoundError: it cannot be read, or lists no release.
    """
    if not index:
        raise ConfigError(OFF)
    import httpx2  # slow to import, and this module is imported for the first list of tools

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
