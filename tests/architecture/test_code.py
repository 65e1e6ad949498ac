"""Rules for the shape of the code that no linter has."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from architecture.conftest import parsed

LONGEST = 400
DRAWERS = {"utils", "util", "common", "helpers", "helper", "manager", "misc"}
HOMES = {
    "argcomplete": ("cli/completion",),
    "asyncio": (
        "gateway/audit",
        "introspection/backends/chromium/",
        "jsonrpc/pipes",
        "lua_runtime/",
        "mcp_client/session",
        "mcp_tasks/tasks",  # calls that outlive the request and its task group
        "mcp_server/transports/http",  # a timer instead of a task per request
        "storage/sqlite",
        "ui/sessions/",
        "webserver/",
    ),
    "cryptography": ("inbox/phone/webpush",),
    "httpx2": (
        "agent/models/http",
        "gateway/openapi/",
        "gateway/web/",
        "http_client",
        "inbox/phone/channels",
        "introspection/backends/chromium/debugger",
        "mcp_client/",
        "oauth/",
        "ui/publisher",
        "ui/tools/update",
    ),
    "lupa": ("lua_runtime/vm",),
    "markdown_it": ("ui/http/guide_routes",),
    "mcp": (),
    "psycopg": ("chat/postgres_store", "storage/"),
    "segno": ("inbox/phone/pairing",),
    "sqlite3": ("chat/sqlite_store", "storage/", "ui/base_dir/migration"),
    "starlette": (
        "agent/http",
        "app/tour/routes.py",
        "app/watch_routes",
        "chat/composer_http",
        "chat/http",
        "gateway/approvals/",
        "gateway/sign_in_pages",
        "gateway/web/",
        "app/phone_listener",
        "inbox/http",
        "inbox/phone/http",
        "mcp_server/transports/",
        "ui/http/",
        "webserver/",
    ),
    "uvicorn": ("webserver/",),
    "watchfiles": ("file_watcher",),
    "websockets": ("introspection/backends/chromium/transports", "testing/"),
    "yaml": ("gateway/config/",),
}
"""Third-party packages that only one part of the program may know."""


@pytest.fixture(scope="module")
def modules(root: Path) -> list[Path]:
    return sorted((root / "src" / "ui_mcp").rglob("*.py"))


def test_no_source_file_is_longer_than_a_reader_can_hold(tracked: list[Path], root: Path) -> None:
    sources = [
        file for file in tracked
        if file.suffix in {".py", ".lua", ".ts", ".java"} and not file.is_relative_to(root / "tests")
    ]  # fmt: skip

    long = {str(file.relative_to(root)): lines for file in sources if (lines := _lines(file)) > LONGEST}

    assert long == {}


def _lines(file: Path) -> int:
    return len(file.read_text().splitlines())


def test_there_is_no_drawer_for_odds_and_ends(tracked: list[Path], root: Path) -> None:
    code = [file.relative_to(root) for file in tracked if file.suffix in {".py", ".ts", ".lua", ".java"}]

    named = [str(file) for file in code if file.stem in DRAWERS or file.parent.name in DRAWERS]

    assert named == []


def test_importing_the_package_imports_nothing_else() -> None:
    code = "import sys; before = set(sys.modules); import ui_mcp; print(sorted(set(sys.modules) - before))"

    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=180, check=True)

    assert shown.stdout == "['ui_mcp']\n"


def test_third_parties_stay_in_their_home(modules: list[Path], root: Path) -> None:
    strays = []
    for file in modules:
        place = file.relative_to(root / "src" / "ui_mcp").as_posix()
        for package in _imports(file) & HOMES.keys():
            if not place.startswith((*HOMES[package], "testing/")):
                strays.append(f"{place} imports {package}")

    assert strays == []


def _imports(file: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(parsed(file)):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module.split(".")[0])
    return names


def test_nothing_prints_outside_the_command_line(modules: list[Path], root: Path) -> None:
    printing = [
        str(file.relative_to(root))
        for file in modules
        if not {"cli", "commands"} & set(file.parts)
        and any(
            isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
            for node in ast.walk(parsed(file))
        )
    ]

    assert printing == []


@pytest.mark.covers("GW-ISO-3", "GW-ISO-5")
def test_clients_for_http_are_made_in_one_place(modules: list[Path], root: Path) -> None:
    made = {
        str(file.relative_to(root / "src" / "ui_mcp"))
        for file in modules
        for call in ast.walk(parsed(file))
        if isinstance(call, ast.Call) and ast.unparse(call.func) in {"httpx2.AsyncClient", "httpx2.Client", "urlopen"}
    }

    assert made <= {"http_client.py"}
