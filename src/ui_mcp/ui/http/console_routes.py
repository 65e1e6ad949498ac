"""Routes of the person's listener for their apps, which they list, create, show, import and point at; a Lua console."""

from base64 import b64encode
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeVar

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ui_mcp.config import LuaPermissions
from ui_mcp.errors import InvalidArgumentsError, NotFoundError, UiMcpError
from ui_mcp.jsontypes import Json, JsonObject, dumps, loads
from ui_mcp.toolkit.tool import Call, Media, Text
from ui_mcp.toolkit.toolset import Toolset
from ui_mcp.ui.app_files import app_folder
from ui_mcp.ui.console import catalog
from ui_mcp.ui.console.catalog import remove, restore
from ui_mcp.ui.console.imports import Imports, Source, archive_hint, require_archive_name
from ui_mcp.ui.console.scaffold import plan, scaffold
from ui_mcp.ui.console.sources import fetch, parse_address
from ui_mcp.ui.http.settings_routes import SettingsRoutes
from ui_mcp.ui.pointing.pointing import MAX_WORDS, point_in_page, prepare_picture
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.sessions.pages import system_event
from ui_mcp.ui.sessions.session import Session
from ui_mcp.webserver.responses import answering, body_of, text_of
from ui_mcp.workspace import Workspace

MAX_WAIT = 25.0
MAX_CODE = 200_000
MAX_ABOUT = 20_000
REQUESTS = frozenset({"build", "test", "fix", "improve"})
"""What the console asks the agent to do with an app."""

T = TypeVar("T")


def console_routes(host: UiServer, build_tools: Callable[[], Toolset]) -> list[BaseRoute]:
    """Return the routes; `build_tools` makes the tools with which apps are tested."""
    return [*ConsoleRoutes(host, build_tools).routes(), *SettingsRoutes(host).routes()]


class ConsoleRoutes:
    """Everything here needs the person's credential: app code and agents cannot reach it."""

    def __init__(self, host: UiServer, build_tools: Callable[[], Toolset]) -> None:
        self._host = host
        self._build_tools = build_tools

    def routes(self) -> Sequence[BaseRoute]:
        table = (
            ("GET", "/apps", self.apps),
            ("POST", "/apps", self.create),
            ("GET", "/apps/{name}", self.app),
            ("DELETE", "/apps/{name}", self.delete),
            ("POST", "/apps/{name}/show", self.show),
            ("POST", "/apps/{name}/test", self.test),
            ("POST", "/apps/{name}/ask", self.ask),
            ("POST", "/deleted/{id}", self.undelete),
            ("POST", "/imports/git", self.import_git),
            ("POST", "/imports/archive", self.import_archive),
            ("GET", "/imports/{id}", self.review),
            ("GET", "/imports/{id}/files/{path:path}", self.file),
            ("POST", "/imports/{id}/accept", self.accept),
            ("DELETE", "/imports/{id}", self.discard),
            ("POST", "/console", self.console),
            ("GET", "/progress", self.progress),
            ("POST", "/point", self.point),
            ("POST", "/point/prepare", self.prepare_point),
        )
        return [Route(path, answering(handler), methods=[method]) for method, path, handler in table]

    async def apps(self, request: Request) -> Response:
        workspace = self._host.configured().workspace
        session = self._session()
        found = {
            "apps": await to_thread.run_sync(catalog.listed, workspace),
            "folder": str(workspace.apps),
            "displayed": session.displayed,
            "listening": session.events.polling,
            "imports": await to_thread.run_sync(self._imports().staged),
        }
        return JSONResponse(found)

    async def app(self, request: Request) -> Response:
        name = request.path_params["name"]
        return JSONResponse(await to_thread.run_sync(catalog.described, *self._place(), name))

    async def create(self, request: Request) -> Response:
        """Create an app: from the template, or as requirements that the agent is asked to build."""
        body = await body_of(request)
        name, about = text_of(body, "name"), body.get("about")
        workspace = self._host.configured().workspace
        if body.get("template") is True:
            await to_thread.run_sync(scaffold, workspace, name)
        else:
            text = text_of(body, "about")[:MAX_ABOUT]
            await to_thread.run_sync(plan, workspace, name, text)
            self._tell_agent("build", name, str(about)[:MAX_ABOUT])
        return JSONResponse({"name": name}, 201)

    async def delete(self, request: Request) -> Response:
        """Delete an app and return the id that brings it back; a page that shows it returns to the start."""
        name = request.path_params["name"]
        undo = await to_thread.run_sync(remove, self._host.configured().workspace, name)
        leave = f"if mcp.displayedName == {dumps(name)} then mcp:goHome() end"
        with suppress(UiMcpError):  # a shell of the project's own may have no start page
            await self._session().run_lua(leave)
        return JSONResponse({"undo": undo})

    async def undelete(self, request: Request) -> Response:
        workspace = self._host.configured().workspace
        return JSONResponse({"name": await to_thread.run_sync(restore, workspace, request.path_params["id"])})

    async def show(self, request: Request) -> Response:
        name = request.path_params["name"]
        folder = app_folder(self._host.configured().workspace, name)
        blank = await self._session().display(name)
        # A new file is loaded within a moment, and the page follows by itself.
        is_loading = blank is not None and (folder / "viewdefs" / f"{blank.viewdef}.html").is_file()
        return JSONResponse({"displayed": name, **({"note": blank.note} if blank and not is_loading else {})})

    async def test(self, request: Request) -> Response:
        """Play the app's test.json in a browser of the server's own."""
        name = request.path_params["name"]
        file = app_folder(self._host.configured().workspace, name) / "test.json"
        try:
            steps = loads(await to_thread.run_sync(file.read_bytes))["steps"]
        except OSError as error:
            raise NotFoundError(f"apps/{name} has no test.json; your agent can write one") from error
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidArgumentsError(f'apps/{name}/test.json is not {{"steps": […]}}') from error
        return JSONResponse(await run_test(self._build_tools, name, steps))

    async def ask(self, request: Request) -> Response:
        """Put a request for the agent into the event queue."""
        body = await body_of(request)
        name, what = request.path_params["name"], text_of(body, "request")
        app_folder(self._host.configured().workspace, name)
        if what not in REQUESTS:
            raise InvalidArgumentsError(f"request should be one of {', '.join(sorted(REQUESTS))}")
        text = body.get("text")
        self._tell_agent(what, name, text[:MAX_ABOUT] if isinstance(text, str) else "")
        return JSONResponse({"listening": self._session().events.polling})

    async def import_git(self, request: Request) -> Response:
        address = parse_address(text_of(await body_of(request), "address"))
        data = await fetch(address)
        where = " ".join(filter(None, (address.repository, address.ref, address.path)))
        hint = (address.path or address.repository).rstrip("/").removesuffix(".git").rpartition("/")[2]
        return JSONResponse(await self._stage(data, Source("git", where), hint), 201)

    async def import_archive(self, request: Request) -> Response:
        name = require_archive_name(request.query_params.get("name", ""))
        return JSONResponse(await self._stage(await request.body(), Source("archive", name), archive_hint(name)), 201)

    async def review(self, request: Request) -> Response:
        return JSONResponse(await self._in_imports(lambda staged: staged.described(request.path_params["id"])))

    async def file(self, request: Request) -> Response:
        given = request.path_params
        return JSONResponse(await self._in_imports(lambda staged: staged.file(given["id"], given["path"])))

    async def accept(self, request: Request) -> Response:
        body = await body_of(request)
        folder = body.get("folder")
        name, number = text_of(body, "name"), request.path_params["id"]
        if not isinstance(folder, str):
            raise InvalidArgumentsError("folder must be a string")
        accepted = partial(Imports.accept, replace=body.get("replace") is True)
        return JSONResponse({"name": await self._in_imports(lambda staged: accepted(staged, number, folder, name))})

    async def discard(self, request: Request) -> Response:
        await self._in_imports(lambda staged: staged.discard(request.path_params["id"]))
        return JSONResponse({"ok": True})

    async def console(self, request: Request) -> Response:
        """Run Lua in the shared session."""
        code = text_of(await body_of(request), "code")
        if len(code) > MAX_CODE:
            raise InvalidArgumentsError(f"code is longer than {MAX_CODE} characters")
        return JSONResponse(await self._session().console(code))

    async def progress(self, request: Request) -> Response:
        """Return what the agent announced, as soon as it is newer than what the page has."""
        given = request.query_params.get("after", "")
        after = int(given) if given.isdecimal() and len(given) < 16 else -1
        return JSONResponse(await self._session().progress.wait(after, MAX_WAIT))

    async def point(self, request: Request) -> Response:
        """Take what the person points at to the agent; the words are posted as theirs."""
        body = await body_of(request)
        words = text_of(body, "words").strip()
        if len(words) > MAX_WORDS:
            raise InvalidArgumentsError(f"words may have at most {MAX_WORDS} characters")
        event = await point_in_page(self._host, text_of(body, "page"), words)
        return JSONResponse({"message_id": event["message_id"]})

    async def prepare_point(self, _: Request) -> Response:
        """Start the browser that takes the picture, while the person writes."""
        await prepare_picture(self._host)
        return JSONResponse({"ok": True})

    def _place(self) -> tuple[Workspace, LuaPermissions]:
        configured = self._host.configured()
        return configured.workspace, configured.config.lua.permissions

    def _session(self) -> Session:
        return self._host.running().sessions.get("1")

    def _imports(self) -> Imports:
        return Imports(*self._place())

    async def _in_imports(self, act: Callable[[Imports], T]) -> T:
        return await to_thread.run_sync(act, self._imports())

    async def _stage(self, data: bytes, source: Source, hint: str) -> JsonObject:
        return await self._in_imports(lambda staged: staged.stage(data, source, hint))

    def _tell_agent(self, what: str, name: str, text: str = "") -> None:
        facts = {"request": what, "target": name, **({"text": text} if text else {})}
        self._session().events.push_system(system_event("app_request", facts))


async def run_test(build_tools: Callable[[], Toolset], app: str, steps: list[Json]) -> JsonObject:
    """Play a scenario with `ui_test` and return its outcome for the person's page."""
    tools = await to_thread.run_sync(build_tools)
    result = await tools.call("ui_test", {"app": app, "steps": steps}, Call(client_name="console"))
    texts = [part.text for part in result.content if isinstance(part, Text)]
    pictures = [b64encode(part.data).decode() for part in result.content if isinstance(part, Media)]
    first: Json = loads(texts[0]) if texts else {}
    failure = first if result.is_error else None
    return {"ok": not result.is_error, "steps": len(steps), "failure": failure, "picture": next(iter(pictures), None)}
