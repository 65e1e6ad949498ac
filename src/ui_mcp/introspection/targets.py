"""Registry of the UIs that tools can use: the open page, our own browser and attached programs."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import anyio

from ui_mcp.account_seal import is_sealed, seal
from ui_mcp.config import Config
from ui_mcp.errors import (
    DiskError,
    NotStartedError,
    UiArgumentError,
    UiNotEnabledError,
)
from ui_mcp.files import PRIVATE, write_atomic
from ui_mcp.introspection.backend import Attachment, Browser, UiBackend
from ui_mcp.introspection.backends import backend_of
from ui_mcp.introspection.backends.chromium.launch import executable
from ui_mcp.introspection.backends.open_page import OpenPage, PageBackend
from ui_mcp.introspection.backends.url import open_browser
from ui_mcp.introspection.hand_over import HandOvers
from ui_mcp.introspection.target import Target
from ui_mcp.jsontypes import JsonObject, dumps, loads
from ui_mcp.processes import pid_exists
from ui_mcp.workspace import Workspace

if TYPE_CHECKING:
    from ui_mcp.introspection.recording.recorder import Recording

_TOKEN = re.compile(r"[0-9a-f]{32}")


def write(folder: Path, attached: Attachment) -> Path:
    """Save an attachment in a file that only its owner can read.

    Raises:
        DiskError: the file cannot be written.
    """
    path, facts = folder / f"{attached.name}.json", asdict(attached)
    try:
        # Sealed with a key of the account: a repository must not bring attachments of its own.
        text = dumps({**facts, "seal": seal(path, dumps(facts))})
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomic(path, text.encode(), mode=PRIVATE)
    except OSError as error:
        raise DiskError(f"Cannot write {path}", error) from error
    return path


def read_all(folder: Path) -> Iterator[Attachment]:
    """Yield the saved attachments by name; deletes those of programs that have ended, skips invalid files."""
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        try:
            attached = _read(path, loads(path.read_bytes()))
        except (OSError, ValueError, TypeError, KeyError):
            continue
        if attached.pid and not pid_exists(attached.pid):
            with suppress(OSError):
                path.unlink()
            continue
        yield attached


def newest(folder: Path) -> Attachment | None:
    """Return the attachment that was saved last; None if there is none."""
    alive = {attached.name: attached for attached in read_all(folder)}
    written = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns) if alive else []
    found = [alive[path.stem] for path in written if path.stem in alive]
    return found[-1] if found else next(iter(alive.values()), None)


def remove(folder: Path, name: str) -> bool:
    """Delete an attachment; return False if there is none of this name."""
    with suppress(OSError):
        (folder / f"{name}.json").unlink()
        return True
    return False


def _read(path: Path, facts: JsonObject) -> Attachment:
    if "kind" in facts:
        if not is_sealed(facts.pop("seal", None), path, dumps(facts)):
            raise ValueError("it was not attached by this account")
        return Attachment(**facts)
    # The agent itself wrote this file, in a program that was started with -javaagent; it has no seal.
    if not _TOKEN.fullmatch(facts["token"]):
        raise ValueError("no token of an agent")
    return Attachment(f"javafx-{facts['pid']}", "javafx", "", facts["pid"], facts["port"], facts["token"])


SETTLING_SECONDS = 1.0
"""After a change of the session, captures wait for the page to become idle within this time."""

RENDER_SECONDS = 3.0
"""Time that pages in our own browser have to render pending changes; then they are captured as they are."""


@dataclass(frozen=True, slots=True)
class ServedUi:
    """The UI that our own server serves at the moment."""

    url: str
    entry_url: str
    """URL that authenticates our own browser."""
    open_page: OpenPage | None
    """The page that a person has open; None if there is none."""
    touched: float
    """`monotonic()` of the session's last change; 0 if there is no session."""
    wait_rendered: Callable[[], Awaitable[None]]
    """Waits until the pages in our own browser have rendered the session's changes."""


class TargetRegistry:
    """Opens targets on first use and keeps them open, so that their uids stay valid."""

    def __init__(
        self,
        config: Callable[[], Config],
        folder: Callable[[], Path],
        ui: Callable[[], ServedUi | None],
        on_pointed: Callable[[str, str], object] = lambda _target, _words: None,
    ) -> None:
        """Create a registry; `on_pointed` gets target and words when a person points in an attached browser."""
        self._config = config
        self._folder = folder
        self._ui = ui
        self._on_pointed = on_pointed
        self._targets: dict[str, Target] = {}
        self._opened_for: dict[str, str] = {}
        self._losses: dict[str, str] = {}
        """Why browsers that will be started again were dropped."""
        self._lock = anyio.Lock()
        self.hand_overs = HandOvers()
        self.recording: Recording | None = None
        """The recording that ended last."""

    def shown(self) -> str | None:
        """Return what shows our UI now: the page that a person has open, else our browser; None if neither does."""
        served = self._ui()
        if served is None or served.open_page is not None:
            return "page" if served else None
        browser = self._targets.get("browser")
        opened = browser is not None and browser.connection.alive() and self._opened_for.get("browser") == served.url
        return "browser" if opened else None

    def recorded(self) -> Target | None:
        """Return the target that is being recorded; None if there is none."""
        return next((target for target in self._targets.values() if target.recorder is not None), None)

    async def target(self, name: str | None = None, *, settled: bool = True) -> Target:
        """Return a target by name; by default the open page, else the browser, else the one attached last.

        If the session has just changed, wait until it shows that, unless `settled` is false.

        Raises:
            UiNotEnabledError: it is not available or not allowed; the reason is in the details.
            UiArgumentError: there is no such target.
        """
        async with self._lock:
            found = await self._find(name)
        if settled and found.name in {"page", "browser"} and self._just_changed():
            # A change of the session takes a moment to arrive in the page.
            await found.settle()
        return found

    async def _find(self, name: str | None) -> Target:
        await self._drop_dead()
        match name or self._default_name():
            case "page":
                self._require_served()
                return self._get_or_add("page", lambda: PageBackend(self._open_page))
            case "browser":
                return await self._browser(self._require_served())
            case other:
                return await self._attached(other)

    @asynccontextmanager
    async def own_browser(self, url: str, rendered: Callable[[], Awaitable[None]]) -> AsyncIterator[Target]:
        """Run a browser of its own for the length of the block, on a page that our server shows at `url`.

        Raises:
            UiNotEnabledError: there is no browser.
        """

        async def wait() -> None:
            with anyio.move_on_after(RENDER_SECONDS):
                await rendered()

        settings = self._config().introspection
        backend = await open_browser(url, settings.chromium, "[ui-app] > *", wait)
        try:
            yield Target("browser", backend, seconds=settings.timeout_ms / 1000, redact=settings.redact)
        finally:
            with anyio.move_on_after(5, shield=True):
                await backend.close()

    def require_attach_allowed(self) -> None:
        """Check that agents may attach and detach.

        Raises:
            UiNotEnabledError: they may not; the reason is `ATTACH_NOT_ALLOWED`.
        """
        if not self.config.introspection.allow_attach:
            raise UiNotEnabledError(
                "Agents may not attach here (introspection.allow_attach = false)\nA person can run `ui-mcp attach`.",
                reason="ATTACH_NOT_ALLOWED",
            )

    def listed(self) -> list[JsonObject]:
        """Return all targets; those that are not available have a reason."""
        served = self._ui()
        reason = None if served else "NOT_STARTED"
        page = served is not None and served.open_page is not None
        missing = None if executable(self._config().introspection.chromium) else "NO_BROWSER"
        own: list[JsonObject] = [
            {"id": "page", "kind": "page", "enabled": page, "reason": reason or (None if page else "NO_PAGE")},
            {"id": "browser", "kind": "browser", "enabled": not (reason or missing), "reason": reason or missing},
        ]
        attached = [
            {"id": entry.name, "kind": entry.kind, "title": entry.title, "pid": entry.pid or None, "enabled": True}
            for entry in read_all(self.folder)
        ]
        return [*own, *attached]

    @property
    def folder(self) -> Path:
        """The folder of saved attachments."""
        return self._folder()

    @property
    def config(self) -> Config:
        return self._config()

    @property
    def serving(self) -> bool:
        """Whether our own server serves a UI."""
        return self._ui() is not None

    def serves(self, url: str) -> bool:
        """Return whether a URL is one of the UI that our own server serves."""
        served = self._ui()
        return served is not None and urlsplit(url)[:2] == urlsplit(served.url)[:2]

    async def browser(self, name: str | None) -> Target:
        """Return the named browser; by default our own, since the page that a person has open is theirs to navigate.

        Raises:
            UiArgumentError: it is not a browser.
        """
        target = await self.target(name or ("browser" if self.serving else None))
        if not isinstance(target.backend, Browser):
            raise UiArgumentError(f'Target {target.name!r} is not a browser\nUse target "browser".')
        return target

    def require_reachable(self, target: Target, url: str) -> None:
        """Check that an agent may open this URL.

        Raises:
            UiNotEnabledError: our own browser may only show our own pages, and no browser files of this machine.
        """
        if self.config.introspection.allow_attach or url == "about:blank":
            return
        allowed = urlsplit(url).scheme in {"http", "https"} if target.name != "browser" else self.serves(url)
        if not allowed:
            raise UiNotEnabledError(
                "Agents may open only pages of this server here (introspection.allow_attach = false)\n"
                "A person can run `ui-mcp attach --url URL`, or allow it.",
                reason="ATTACH_NOT_ALLOWED",
            )

    async def forget(self, name: str) -> bool:
        """Detach a target, which keeps running; return False if there is none of this name."""
        async with self._lock:
            for key in [key for key, target in self._targets.items() if target.name == name]:
                with anyio.move_on_after(5):
                    await self._targets.pop(key).connection.close()
            return remove(self.folder, name)

    async def close(self) -> None:
        """Disconnect from all targets."""
        targets, self._targets = self._targets, {}
        for target in targets.values():
            with anyio.move_on_after(5, shield=True):
                await target.connection.close()

    async def _drop_dead(self) -> None:
        for name in [name for name, target in self._targets.items() if not target.connection.alive()]:
            dropped = self._targets.pop(name)
            if isinstance(dropped.connection, Browser) and (why := dropped.connection.loss()):
                self._losses[name] = f"browser: {why}; its tabs, forms and logins are gone"
            if dropped.recorder is not None:
                dropped.recorder.interrupt("The UI was closed here; what was done later is not recorded")
                self.recording = dropped.recorder.finish(None)
            with anyio.move_on_after(5):
                await dropped.connection.close()

    def _just_changed(self) -> bool:
        served = self._ui()
        return served is not None and monotonic() - served.touched < SETTLING_SECONDS

    def _default_name(self) -> str:
        if served := self._ui():
            return "page" if served.open_page else "browser"
        latest = newest(self.folder)
        if latest is None:
            raise NotStartedError
        return latest.name

    def _require_served(self) -> ServedUi:
        served = self._ui()
        if served is None:
            raise NotStartedError
        return served

    def _open_page(self) -> OpenPage | None:
        served = self._ui()
        return served.open_page if served else None

    async def _wait_rendered(self) -> None:
        if served := self._ui():
            with anyio.move_on_after(RENDER_SECONDS):
                await served.wait_rendered()

    def _get_or_add(self, name: str, make: Callable[[], UiBackend]) -> Target:
        if name not in self._targets:
            settings = self._config().introspection
            self._targets[name] = Target(name, make(), seconds=settings.timeout_ms / 1000, redact=settings.redact)
            self._targets[name].loss = self._losses.pop(name, None)
        return self._targets[name]

    async def _browser(self, served: ServedUi) -> Target:
        # After a restart on another port, the pages of the old server are dead.
        if self._opened_for.get("browser") != served.url and "browser" in self._targets:
            await self._targets.pop("browser").connection.close()
        if "browser" not in self._targets:
            chromium = self._config().introspection.chromium
            backend = await open_browser(served.entry_url, chromium, "[ui-app] > *", self._wait_rendered)
            self._opened_for["browser"] = served.url
            return self._get_or_add("browser", lambda: backend)
        return self._targets["browser"]

    async def _attached(self, name: str) -> Target:
        known = list(read_all(self.folder))
        found = [entry for entry in known if entry.name == name] or [entry for entry in known if entry.kind == name]
        if len(found) != 1:
            names = ", ".join(["page", "browser", *(entry.name for entry in known)])
            raise UiArgumentError(f"No target {name!r}; there are: {names}\nA person adds one with `ui-mcp attach`.")
        # A program that was attached again has another port, and needs a new connection.
        key = f"{found[0].name}:{found[0].port}{found[0].url}"
        if key not in self._targets:
            backend = await backend_of(found[0].kind).open(found[0])
            self._get_or_add(key, lambda: backend).name = found[0].name
            if isinstance(backend, Browser):
                backend.on_pointed = partial(self._on_pointed, found[0].name)
        return self._targets[key]


def target_folder(workspace: Workspace) -> Path:
    """Return the folder in which a base directory saves its attachments."""
    return workspace.state_dir / "targets"
