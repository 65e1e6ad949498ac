"""Ways to a file outside: by every file route, every tool argument and every resource, and by planted links."""

import os
import sys
from pathlib import Path
from urllib.parse import quote

import anyio
import httpx2
import pytest
from mcp import Client, StdioServerParameters

from gateway.conftest import MakeTarget, Recorder, document
from integration.nlui import nlui_demo
from servers import running_server
from ui_mcp.errors import NotFoundError, UiMcpError
from ui_mcp.gateway.results import ResultStore
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.tool import Call

pytestmark = pytest.mark.timeout(300)
CANARY = "canary-outside-everything"
NAMES = [
    "../outside.txt", "../../outside.txt", "../../../outside.txt", "/etc/passwd", "....//outside.txt",
    "..\\outside.txt", "\u2025/outside.txt",
    "%2e%2e/outside.txt", "..%2foutside.txt", "%252e%252e%252foutside.txt", "..;/outside.txt", "./../outside.txt",
    "x/../../outside.txt", "outside.txt%00.html", "file:///etc/passwd", "~/outside.txt", "C:\\outside.txt",
]  # fmt: skip


def planted(folder: Path) -> None:
    """Put the canary in every folder above and beside the workspace."""
    for place in (folder, folder / ".claude", folder / ".claude" / "ui"):
        place.mkdir(parents=True, exist_ok=True)
        (place / "outside.txt").write_text(CANARY)


def beside(folder: Path, inside: Path) -> set[Path]:
    """Return everything below a folder but what lies inside another."""
    found: set[Path] = set()
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if Path(parent, name) != inside]
        found |= {Path(parent, name) for name in (*folders, *files)}
    return found


@pytest.mark.slow
@pytest.mark.covers("UI-SEC-6")
async def test_no_file_route_leaves_its_folder(tmp_path: Path) -> None:
    planted(tmp_path)
    leaked: list[str] = []
    async with running_server(tmp_path) as running:
        html = tmp_path / ".claude" / "ui" / "html"
        html.mkdir(exist_ok=True)
        (html / "link.txt").symlink_to("/etc/passwd")
        (html / "up").symlink_to("/etc")
        secret = running.sessions.get("1").secret
        routes = [
            *(f"{running.url}/{prefix}" for prefix in ("", "icons/", "vendor/", "chat/", "apps/", f"{secret}/")),
            *(f"http://127.0.0.1:{running.mcp_port}/{prefix}" for prefix in ("vendor/", "chat/")),
        ]
        for route in routes:
            for name in [
                *NAMES,
                "link.txt",
                "up/passwd",
                "config/config.toml",
                "mcp-token",
                "storage/runtime.db",
                ".ui-mcp/runtime.db",
            ]:
                for spelled in (name, quote(name, safe="%")):
                    answer = await _raw(route, spelled)
                    if CANARY in answer or "root:" in answer or "SQLite format" in answer:
                        leaked.append(f"{route}{spelled}")

    assert leaked == []


@pytest.mark.slow
def test_no_file_route_of_the_chat_leaves_its_folder(tmp_path: Path) -> None:
    project = tmp_path / "far" / "down"
    planted(project)
    with nlui_demo(project) as url, httpx2.Client(base_url=url, timeout=60) as client:
        answers = [client.get(f"/nlui/{quote(name, safe='%/')}") for name in NAMES]
        upload = client.post(
            "/api/specs/upload",
            files={"spec": ("../../../evil.json", b'{"openapi":"3.0.0","info":{},"paths":{}}', "application/json")},
            data={"name": "../../evil"},
        )

    assert [answer.text for answer in answers if CANARY in answer.text or "root:" in answer.text] == []
    assert upload.status_code < 500
    assert [path for path in beside(tmp_path, project) if "evil" in path.name] == []


TOOLS = {
    "ui_display": "name",
    "ui_audit": "name",
    "ui_upload_viewdef": "type",
    "ui_theme": "app",
    "ui_test": "app",
}


@pytest.mark.slow
async def test_no_tool_argument_and_no_resource_leaves_the_workspace(tmp_path: Path) -> None:
    project = tmp_path / "far" / "down"
    planted(project)
    unused = beside(tmp_path, project / ".claude")
    server = StdioServerParameters(command=sys.executable, args=["-m", "ui_mcp", "mcp"], cwd=project)
    heard: list[str] = []
    async with Client(server, mode="legacy") as client:
        await client.call_tool("ui_start", {})
        before = beside(tmp_path, project / ".claude")
        more: dict[str, JsonObject] = {
            "ui_upload_viewdef": {"namespace": "DEFAULT", "content": "<template><b></b></template>"}
        }
        more |= {"ui_theme": {"action": "audit"}, "ui_test": {"steps": []}}
        for name in NAMES:
            for tool, argument in TOOLS.items():
                heard.append((await client.call_tool(tool, {argument: name, **more.get(tool, {})})).model_dump_json())
            for uri in (f"ui://{name}", f"ui://patterns/{name}", f"ui-mcp://{name}", f"ui://state/{name}"):
                try:
                    heard.append((await client.read_resource(uri)).model_dump_json())
                except Exception as error:
                    heard.append(str(error))
    after = beside(tmp_path, project / ".claude")

    assert [text for text in heard if CANARY in text or "root:x" in text] == []
    assert {path.relative_to(project).parts[0] for path in before - unused} == {".agents"}
    assert after - before == set()


@pytest.mark.covers("GW-REQ-7")
async def test_a_file_argument_reaches_only_the_configured_folders(
    recorder: Recorder, make_target: MakeTarget, tmp_path: Path
) -> None:
    planted(tmp_path)
    root = tmp_path / "open"
    root.mkdir()
    (root / "link").symlink_to(tmp_path)
    body = {"multipart/form-data": {"schema": {"properties": {"photo": {"type": "string", "format": "binary"}}}}}
    paths = {"/up": {"post": {"operationId": "up", "requestBody": {"content": body}, "responses": {}}}}
    async with make_target(document(paths), base_url=recorder.url, files={"roots": [str(root)]}) as target:
        await target.refresh()
        for path in (
            "../outside.txt",
            f"{root}/../outside.txt",
            f"{root}/link/outside.txt",
            "/etc/passwd",
            "~/.ssh/id",
        ):
            with pytest.raises(UiMcpError):
                await target.source.call("api__up", {"body": {"photo": {"path": path}}}, Call())

    assert recorder.requests == []


async def test_a_handle_is_never_a_path(tmp_path: Path) -> None:
    store = ResultStore(tmp_path / "results")
    mine = await store.store(b"mine", "text/plain", "ann")
    (tmp_path / "outside").write_text(CANARY)
    for handle in ("../outside", mine.upper() + "x", f"{mine}/../../outside", "", "\0"):
        with pytest.raises(NotFoundError):
            await store.read(handle, "ann")
    with pytest.raises(NotFoundError):
        await store.read(mine, "eve")


async def _raw(route: str, name: str) -> str:
    """Ask for a path exactly as it is spelled; clients would tidy it up."""
    host, _, rest = route.removeprefix("http://").partition("/")
    address, _, port = host.partition(":")
    async with await anyio.connect_tcp(address, int(port)) as stream:
        target = f"/{rest}{name}".replace(" ", "%20").encode("utf-8", "replace").replace(b"\0", b"%00")
        await stream.send(b"GET " + target + b" HTTP/1.1\r\nHost: " + host.encode() + b"\r\nConnection: close\r\n\r\n")
        got = b""
        with anyio.move_on_after(60):
            try:
                while True:
                    got += await stream.receive()
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                pass
    return got.decode("latin-1")
