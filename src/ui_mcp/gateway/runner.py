"""Runs the gateway: on stdin and stdout, over HTTP, or for one command from a terminal."""

import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import anyio
from platformdirs import user_cache_path, user_config_path, user_data_path

from ui_mcp.app.nlui_reload import Load, Stamp, follow_file, stamp_of
from ui_mcp.app.ui_server import run, until_signalled
from ui_mcp.app.upstreams import connector
from ui_mcp.config import LOOPBACK
from ui_mcp.errors import ConfigError
from ui_mcp.gateway.ask_tool import Asking
from ui_mcp.gateway.config import loader
from ui_mcp.gateway.config.agreement import NotAgreedError, found_file, load_found
from ui_mcp.gateway.config.settings import GatewaySettings, TargetSettings
from ui_mcp.gateway.mcp import MountedPrompts, MountedResources, OwnResources
from ui_mcp.gateway.policy import Mode
from ui_mcp.gateway.service import Gateway, Surroundings
from ui_mcp.gateway.source import Health
from ui_mcp.gateway.toolset import Offered, instructions
from ui_mcp.log import logger, only_errors, to_stderr
from ui_mcp.mcp_server.definition import Face
from ui_mcp.toolkit.announcements import Announcement, Announcements, ResourceUpdated
from ui_mcp.toolkit.resources import CombinedResources
from ui_mcp.toolkit.tool import Call
from ui_mcp.trust import place_of
from ui_mcp.version import bundled_version

_log = logger("nlui")
_SHORT_SECRET = 6
_NOWHERE = "no nlui.yaml here and no address given: there are no targets (nlui init writes a file to start from)"


Patience = Callable[[Call], float | None]


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line said."""

    source: str | None = None
    """A configuration file, or the address of an API."""
    host: str | None = None
    port: int | None = None
    mode: Mode | None = None
    compact: bool = False
    verbosity: int = 0
    quiet: bool = False
    """Whether the command reports warnings itself."""
    settings: GatewaySettings | None = None
    """Settings made by the program itself; no file is read then."""
    load: Load = loader.load
    """Reads the configuration file, at first and after each change."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """Settings with what they were read from."""

    settings: GatewaySettings
    warnings: list[str]
    variables: frozenset[str]
    file: Path | None = None
    """None when there is none."""
    stamp: Stamp = (0, 0, 0)
    """Of the file, before it was read."""
    load: Load = loader.load
    """Reads the file again after a change."""
    not_agreed: str = ""
    """Why the file is not in effect; "" when it is."""

    @property
    def writable(self) -> Path | None:
        """Where changes made on the page are written; None where there is no file that is in effect."""
        return None if self.not_agreed else self.file


def configuration(asked: Asked) -> Configuration:
    """Read the configuration, or make one of a bare address or document."""
    if asked.settings is not None:
        return Configuration(asked.settings, [], frozenset())
    source = asked.source
    if source and _is_document(source):
        name = urlsplit(source).hostname or Path(source).stem if "://" in source else Path(source).stem
        key = "base_url" if "://" in source else "spec"
        target = TargetSettings.model_validate({"name": name, key: source})
        return Configuration(GatewaySettings(targets=(target,)), [], frozenset())
    file = loader.find(source, os.environ, user_config_path())
    if file is None:
        return Configuration(GatewaySettings(), [_NOWHERE], frozenset())
    load = load_found if found_file(source) else asked.load
    stamp = stamp_of(file)
    try:
        loaded = load(file)
    except NotAgreedError as error:
        why = error.message
        return Configuration(GatewaySettings(), [why], frozenset(), place_of(file), stamp, load, why)
    empty = [] if loaded.settings.targets or loaded.settings.backends else [_nothing(file)]
    return Configuration(loaded.settings, loaded.warnings + empty, loaded.variables, place_of(file), stamp, load)


def _nothing(file: Path) -> str:
    return f"{file}: names no targets and no servers; add them there, or on the page of the chat"


def _is_document(source: str) -> bool:
    if source.startswith(("http://", "https://")):
        return True
    path = Path(source)
    if not path.is_file() or path.name == loader.FILE:
        return False
    from ui_mcp.gateway.config.parse import parse
    from ui_mcp.gateway.openapi.document import is_openapi

    try:
        return is_openapi(parse(path.read_bytes()))
    except ConfigError:
        return False  # reading it as a configuration names the line


@asynccontextmanager
async def opened(
    asked: Asked,
    *,
    mode: Mode,
    announcements: Announcements | None = None,
    patience: Patience | None = None,
    waits_for_ever: str | None = None,
    answered_at: Callable[[], str] = lambda: "",
) -> AsyncIterator[Gateway]:
    """Run a gateway for the length of the block.

    `patience` says how long a caller waits for a person; whoever brings it has a page of its own for answers.
    `waits_for_ever` names the one caller that does, where the page for answers is the gateway's.
    `answered_at` names the page on which the person answers, where another listener has one; "" when none is open.
    """
    to_stderr(asked.verbosity)
    if asked.quiet:
        only_errors()
    read = configuration(asked)
    for warning in read.warnings:
        _log.warning("%s", warning)
    settings = read.settings
    data = data_folder(settings)
    page = _AnswerPage(answered_at)
    around = Surroundings(
        data=data,
        cache=user_cache_path("nlui") if not settings.data_dir else data / "cache",
        connect=connector(read.variables),
        secrets=tuple(filter(_may_be_secret, (os.environ.get(name, "") for name in sorted(read.variables)))),
        announcements=announcements or Announcements(),
        mode=asked.mode or mode,
        where=lambda: page.url,
        patience=patience or (_patient(waits_for_ever, settings.approvals.sync_wait_s) if waits_for_ever else None),
    )
    gateway = Gateway(settings, around)
    async with gateway.running(), anyio.create_task_group() as tasks:
        if patience is None:
            tasks.start_soon(page.open_when_asked, gateway)
        if read.file is not None:
            if read.not_agreed:
                gateway.failures[read.file.name] = Health(read.file.name, "builtin", "failed", error=read.not_agreed)
            tasks.start_soon(follow_file, gateway, read.file, read.stamp, read.load)
        yield gateway
        tasks.cancel_scope.cancel()


def _patient(principal: str, others: float) -> Patience:
    return lambda call: None if call.principal == principal else others


def _may_be_secret(value: str) -> bool:
    """Say whether a value taken from the environment must not be shown; paths, addresses and numbers may be."""
    return len(value) >= _SHORT_SECRET and not value.isdigit() and not value.startswith(("/", "~", ".", "http"))


def data_folder(settings: GatewaySettings) -> Path:
    """Return where the gateway keeps what lasts."""
    return Path(settings.data_dir).expanduser() if settings.data_dir else user_data_path("nlui")


class _AnswerPage:
    """Where the person answers: on a listener that is there already, else on one that opens with the first question."""

    def __init__(self, elsewhere: Callable[[], str]) -> None:
        self._elsewhere = elsewhere
        self._own = ""

    @property
    def url(self) -> str:
        """The bare address of the page; it grants nothing."""
        return self._elsewhere() or self._own

    async def open_when_asked(self, gateway: Gateway) -> None:
        """Open a listener when a question waits and there is no page to answer it on."""
        asked = anyio.Event()

        def heard(news: Announcement) -> None:
            if isinstance(news, ResourceUpdated) and news.uri == "approvals://pending" and not self._elsewhere():
                asked.set()

        stop = gateway.announcements.listen(heard)
        try:
            await asked.wait()
        finally:
            stop()
        from ui_mcp.app.nlui_http import serve_approvals

        try:
            await serve_approvals(gateway, self._opened)
        except ConfigError as error:  # people can still answer in a terminal
            _log.error("There is no page to answer on: %s", error.message)

    def _opened(self, url: str) -> None:
        from ui_mcp.app.person_listener import person_link

        self._own = f"{url}/approvals"
        # A code may be on a terminal, which the person reads, but not in the log that a host makes of stderr.
        out = sys.stdout if sys.stdout.isatty() else sys.stderr
        out.write(f"nlui: a call waits for your answer at {person_link(url, 'approvals')}\n")
        out.flush()


def gateway_face(gateway: Gateway, asked: Asked) -> Face:
    """Return what MCP clients of the gateway see."""
    return Face(
        name="nlui",
        title="NLUI gateway",
        version=bundled_version(),
        toolset=Asking(gateway, Offered(gateway, mode="compact" if asked.compact else None)),
        resources=CombinedResources([OwnResources(gateway), MountedResources(gateway)]),
        announcements=gateway.announcements,
        instructions=instructions(gateway),
        prompts=MountedPrompts(gateway),
        tools_per_page=gateway.settings.catalogue.page_size,
        list_changed=frozenset({"tools", "resources", "prompts"}),
    )


def run_stdio(asked: Asked, stdin: int, stdout: int) -> int:
    """Serve one MCP client on two file descriptors."""
    return run(_stdio, asked, stdin, stdout)


async def _stdio(asked: Asked, stdin: int, stdout: int) -> int:
    from ui_mcp.mcp_server.server import Service
    from ui_mcp.mcp_server.transports.stdio import serve

    async with until_signalled(), opened(asked, mode="host") as gateway:
        await serve(Service(gateway_face(gateway, asked)), stdin, stdout)
    return 0


def run_http(asked: Asked, port: int | None) -> int:
    """Serve MCP clients over HTTP until interrupted."""
    return run(_http, asked, port)


async def _http(asked: Asked, port: int | None) -> int:
    from ui_mcp.app.nlui_http import serve_gateway
    from ui_mcp.webserver.server import bind

    settings = configuration(asked).settings
    host = asked.host or settings.server.host
    if host not in LOOPBACK and not settings.server.token:
        raise ConfigError(f"{host} is reachable from other machines\nSet server.token in nlui.yaml, or use 127.0.0.1.")
    chosen = port if port is not None else settings.mcp.server.sse_port or 8080
    listener = bind(host, chosen)
    mode: Mode = "host" if host in LOOPBACK else "guard"
    async with until_signalled(), opened(asked, mode=mode) as gateway:
        await serve_gateway(gateway, gateway_face(gateway, asked), listener, host)
    return 0
