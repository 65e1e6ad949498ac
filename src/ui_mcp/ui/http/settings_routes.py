"""Routes of the person's listener for settings: theme, every setting of the project, and what widens rights."""

import json
import os
from collections.abc import Sequence

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ui_mcp.config import ENVIRONMENT
from ui_mcp.errors import ConfigError, InvalidArgumentsError, NotFoundError, RefusedError
from ui_mcp.files import PRIVATE, write_atomic
from ui_mcp.jsontypes import JsonObject
from ui_mcp.trust import WIDENING
from ui_mcp.ui.console import settings_file
from ui_mcp.ui.console.introduction import set_introduced
from ui_mcp.ui.refusals import refusals
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.themes import chosen_theme, themes_of
from ui_mcp.version import bundled_version
from ui_mcp.webserver.responses import answering, body_of, text_of
from ui_mcp.workspace import Workspace


class SettingsRoutes:
    def __init__(self, host: UiServer) -> None:
        self._host = host

    def routes(self) -> Sequence[BaseRoute]:
        return [
            Route("/settings", answering(self.shown), methods=["GET"]),
            Route("/settings/values", answering(self.change), methods=["PUT"]),
            Route("/settings/agreement", answering(self.agree), methods=["POST"]),
            Route("/settings/agreement", answering(self.revoke), methods=["DELETE"]),
            Route("/settings/theme", answering(self.theme), methods=["PUT"]),
            Route("/settings/introduction", answering(self.introduction), methods=["PUT"]),
        ]

    async def shown(self, request: Request) -> Response:
        return JSONResponse(await to_thread.run_sync(self._shown))

    async def change(self, request: Request) -> Response:
        """Change one setting; one that widens rights counts as agreed to only if nothing else waited for that."""
        body = await body_of(request)
        key, file = text_of(body, "key"), self._workspace().config_file
        if "value" not in body:
            raise InvalidArgumentsError("value is missing; null removes the setting from the file")
        agreed = settings_file.agreement(file)["agreed"]
        if key in WIDENING and body["value"] is not None and body.get("agree") is not True:
            raise RefusedError(f"{key} widens rights\nSend agree: true once the person has agreed.")
        await to_thread.run_sync(settings_file.change, file, key, body["value"])
        if agreed:
            settings_file.agree(file, settings_file.agreement(file)["digest"])
        return JSONResponse(await to_thread.run_sync(self._shown))

    async def agree(self, request: Request) -> Response:
        digest = text_of(await body_of(request), "digest")
        await to_thread.run_sync(settings_file.agree, self._workspace().config_file, digest)
        return JSONResponse(await to_thread.run_sync(self._shown))

    async def revoke(self, request: Request) -> Response:
        await to_thread.run_sync(settings_file.revoke, self._workspace().config_file)
        return JSONResponse(await to_thread.run_sync(self._shown))

    async def theme(self, request: Request) -> Response:
        name = text_of(await body_of(request), "name")
        workspace = self._workspace()
        if name != "auto" and name not in {theme.name for theme in themes_of(workspace)}:
            raise NotFoundError(f"There is no theme {name!r}")
        await to_thread.run_sync(keep_theme, workspace, name)
        return JSONResponse({"theme": name})

    async def introduction(self, request: Request) -> Response:
        """Remember whether this person has seen the introduction."""
        seen = (await body_of(request)).get("seen") is True
        await to_thread.run_sync(set_introduced, seen)
        return JSONResponse({"introduced": seen})

    def _workspace(self) -> Workspace:
        return self._host.configured().workspace

    def _shown(self) -> JsonObject:
        configured = self._host.configured()
        workspace, file = configured.workspace, configured.workspace.config_file
        themes = [
            {"name": theme.name, "about": theme.description, "accent": theme.accent, "dark": theme.dark}
            for theme in themes_of(workspace)
        ]
        return {
            "theme": chosen_theme(workspace) or "auto",
            "themes": themes,
            "version": bundled_version(),
            "base_dir": str(workspace.base),
            "file": str(file),
            "status": self._host.status(),
            "sections": settings_file.all_settings(file, configured.config),
            "overridden": {key: name for name, key in ENVIRONMENT.items() if os.environ.get(name)},
            "agreement": settings_file.agreement(file),
            "restart": self._differs(),
            "refusals": refusals(workspace),
        }

    def _differs(self) -> bool:
        """Return whether the next start would use other settings than those in effect."""
        try:
            return self._host.next_config() != self._host.configured().config
        except ConfigError:
            return True


def keep_theme(workspace: Workspace, name: str) -> None:
    """Keep the theme of a project in `storage/settings.json`, beside what apps keep there; `auto` keeps none.

    Raises:
        RefusedError: the file cannot be written.
    """
    file = workspace.storage / "settings.json"
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = {}
    kept = {key: value for key, value in found.items() if key != "theme"} if isinstance(found, dict) else {}
    if workspace.storage_leads_away or file.is_symlink():
        raise RefusedError("storage/settings.json is a link; remove it")
    try:
        write_atomic(file, json.dumps(kept | ({} if name == "auto" else {"theme": name})).encode(), mode=PRIVATE)
    except OSError as error:
        raise RefusedError(f"Cannot write {file}: {error.strerror or error}") from error
