"""The APIs of the chat: probed, added, reloaded and removed at run time, saved in nlui.yaml."""

from collections.abc import Awaitable, Callable
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

import httpx2
from anyio import to_thread

from ui_mcp.errors import InvalidArgumentsError, NotFoundError, UiMcpError
from ui_mcp.gateway.config import editor
from ui_mcp.gateway.config.editor import own_file
from ui_mcp.gateway.config.loader import SECRETS, literal
from ui_mcp.gateway.config.parse import MAX_BYTES, is_openapi, parse
from ui_mcp.gateway.config.settings import TargetSettings
from ui_mcp.gateway.openapi.discover import discover
from ui_mcp.gateway.openapi.live import LiveTarget
from ui_mcp.gateway.service import GatewayService
from ui_mcp.gateway.source import health_json
from ui_mcp.http_client import open_client
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.toolkit.names import source_name
from ui_mcp.validation import InvalidDataError, read

MAX_UPLOAD_BYTES = 4 * 1024 * 1024
PRESETS: tuple[JsonObject, ...] = (
    {"name": "shop", "description": "A small coffee shop on this machine, with orders to list and to ship."},
)


class TargetSettingsService:
    """Changes which APIs the gateway offers; without a file, changes last until it stops."""

    def __init__(self, gateway: GatewayService, file: Path | None, demo: Callable[[], Awaitable[str]]) -> None:
        self._gateway = gateway
        self._file = file
        self._demo = demo

    async def listed(self) -> list[JsonObject]:
        """Return every source with its health and the names of its tools."""
        await self._gateway.sources.ready()
        named: dict[str, list[str]] = {}
        for entry in self._gateway.catalog.entries():
            named.setdefault(entry.source, []).append(entry.name)
        sources = health_json(self._gateway.health())
        return [{**health, "tools": named.get(str(health["name"]), [])} for health in sources]

    async def add(self, body: JsonObject) -> JsonObject:
        """Add an API and wait for its document.

        Raises:
            InvalidArgumentsError: it has neither an address nor a document.
            MountError: there is already a source of this name.
        """
        kept = {key: value for key, value in body.items() if key in {"name", "base_url", "spec", "description", "auth"}}
        if kept.get("spec") and not str(kept["spec"]).startswith(("http://", "https://")):
            raise InvalidArgumentsError("spec must be an address; upload files instead")
        return await self._add(kept)

    async def _add(self, kept: JsonObject) -> JsonObject:
        name = await self._gateway.sources.attach_target(_settings(kept))
        if self._file is not None:
            entry = self._saved_entry({**kept, "name": name})
            editor.change(self._file, lambda tree: {**tree, "targets": [*(tree.get("targets") or []), entry]})
        target = self._gateway.sources.targets[name]
        await target.first.wait()
        return {"name": name, "saved": self._file is not None, **_outcome(target)}

    async def remove(self, name: str) -> None:
        """Remove an API, also from the file.

        Raises:
            NotFoundError: there is no API of this name.
        """
        if not await self._gateway.sources.detach_target(name):
            raise NotFoundError(f"There is no API named {name}")
        if self._file is not None:
            editor.change(self._file, lambda tree: _without(tree, name))

    async def reload(self, name: str) -> JsonObject:
        """Reload the document of an API.

        Raises:
            NotFoundError: there is no API of this name.
        """
        target = self._target(name)
        target.source.error = ""
        if await target.refresh():
            self._gateway.catalog.changed()
        return {"name": name, **_outcome(target)}

    def report(self, name: str) -> JsonObject:
        """Return how well each operation was understood.

        Raises:
            NotFoundError: there is no API of this name.
        """
        source = self._target(name).source
        return source.api.report() if source.api else {"error": source.error or "not loaded", "operations": []}

    async def probe(self, url: str) -> JsonObject:
        """Search for the document of an address without adding anything; return every URL that was tried.

        Raises:
            InvalidArgumentsError: it is not an http address, or it cannot be reached.
        """
        if not url.startswith(("http://", "https://")):
            raise InvalidArgumentsError("base_url must begin with http:// or https://")
        try:
            async with open_client(limit=MAX_BYTES, timeout=5) as client:
                found = await discover(url, client)
        except (UiMcpError, httpx2.InvalidURL) as error:
            raise InvalidArgumentsError(f"{url}: {error}") from error
        tried = [{"url": one.url, "outcome": one.outcome} for one in found.tried]
        where = found.found[0] if found.found else None
        return {"found": bool(found.found), "spec_url": where, "documents": found.found, "tried": tried}

    async def upload(self, name: str, data: bytes) -> JsonObject:
        """Store a document under a generated file name and add its API.

        Raises:
            InvalidArgumentsError: it is not an OpenAPI document, or larger than 4 MiB.
        """
        if len(data) > MAX_UPLOAD_BYTES:
            raise InvalidArgumentsError("Documents may have at most 4 MiB")
        tree = await to_thread.run_sync(parse, data)
        if not isinstance(tree, dict) or not is_openapi(tree):
            raise InvalidArgumentsError("This is not an OpenAPI document")
        title = (tree.get("info") or {}).get("title") if isinstance(tree.get("info"), dict) else ""
        file = own_file(self._uploads() / f"{token_hex(16)}.yaml", data)
        try:
            return await self._add({"name": source_name(name or str(title or "api")), "spec": str(file)})
        except Exception:
            file.unlink(missing_ok=True)  # no target refers to it
            raise

    async def import_preset(self, name: str) -> JsonObject:
        """Add a ready-made API.

        Raises:
            NotFoundError: there is no preset of this name.
        """
        if name not in {preset["name"] for preset in PRESETS}:
            raise NotFoundError(f"There is no preset named {name}")
        found = await self._gateway.sources.attach_target(_settings({"name": name, "base_url": await self._demo()}))
        await self._gateway.sources.targets[found].first.wait()
        # Not saved: the demo gets another port at each start.
        return {"name": found, "saved": False, **_outcome(self._gateway.sources.targets[found])}

    def _saved_entry(self, entry: JsonObject) -> JsonObject:
        """Return the entry for the file, with credentials in files of their own and `${` escaped."""
        folder, name = self._gateway.context.data / "secrets", str(entry["name"])

        def kept(value: Json, path: tuple[str, ...]) -> Json:
            if isinstance(value, dict):
                return {key: kept(member, (*path, str(key))) for key, member in value.items()}
            if path and path[-1] in SECRETS and isinstance(value, str) and value:
                # Scheme names may contain anything, also path separators; hence the digest.
                scheme = sha256("\0".join(path).encode("utf-8", "replace")).hexdigest()[:16] if len(path) > 2 else ""
                file = folder / "-".join(part for part in (name, scheme, path[-1]) if part)
                return literal(f"file:{own_file(file, value.encode('utf-8', 'replace'))}")
            return literal(value)

        return {key: kept(value, (key,)) for key, value in entry.items()}

    def _uploads(self) -> Path:
        return self._gateway.context.data.resolve() / "specs"

    def _target(self, name: str) -> LiveTarget:
        if name not in self._gateway.sources.targets:
            raise NotFoundError(f"There is no API named {name}")
        return self._gateway.sources.targets[name]


def _settings(body: JsonObject) -> TargetSettings:
    try:
        settings = read(TargetSettings, body)
    except InvalidDataError as error:
        raise InvalidArgumentsError(str(error)) from error
    if not settings.base_url.startswith(("http://", "https://")) and not settings.spec:
        raise InvalidArgumentsError("Give base_url (an http address) or spec (the address of its document)")
    return settings


def _outcome(target: LiveTarget) -> JsonObject:
    tools = [entry.name for entry in target.source.entries()]
    return {"tools": tools, "error": target.source.error or None}


def _without(tree: JsonObject, name: str) -> JsonObject:
    listed = tree.get("targets")
    named = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    left = [one for one in named if source_name(str(one.get("name") or "")) != name]
    return {**tree, "targets": left}
