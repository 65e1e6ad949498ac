"""Secrets of every kind are planted in a whole gateway process, used, echoed and made to fail; then searched for."""

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, quote_plus

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp_types import TextResourceContents

from gateway.conftest import Recorded, Recorder, Reply, document, json_reply
from security.processes import command_lines
from ui_mcp.app.commands.approvals import ApprovalCommand, act
from ui_mcp.errors import UiMcpError

NLUI = "from ui_mcp.cli.entry import nlui_main; raise SystemExit(nlui_main())"
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
KINDS = ("header", "query", "cookie", "basic", "bearer", "oauth", "given", "argument", "spec", "backend", "database")
CANARIES = {kind: f"canary-{kind}-{number:04d}-Zq+/" for number, kind in enumerate(KINDS)}
ACCESS = "canary-access-token-77aa"
SCHEMES = {
    "header": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "query": {"type": "apiKey", "in": "query", "name": "key"},
    "cookie": {"type": "apiKey", "in": "cookie", "name": "sid"},
    "basic": {"type": "http", "scheme": "basic"},
    "bearer": {"type": "http", "scheme": "bearer"},
    "oauth": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "/token", "scopes": {}}}},
    "given": {"type": "http", "scheme": "bearer"},
}


def spelled(secret: str) -> set[bytes]:
    """Return every way a secret could be written down."""
    plain = {secret, quote(secret, safe=""), quote_plus(secret), json.dumps(secret)[1:-1]}
    encoded = {base64.b64encode(text.encode()).decode().rstrip("=") for text in (secret, f"ann:{secret}")}
    return {text.encode() for text in plain | encoded}


def found_in(data: bytes) -> list[str]:
    every = {**CANARIES, "access": ACCESS}
    return [kind for kind, secret in every.items() if any(form in data for form in spelled(secret))]


def configured(folder: Path, recorder: Recorder) -> Path:
    body = {"content": {"application/json": {"schema": {"type": "object"}}}}
    paths: dict[str, Any] = {
        f"/{name}": {"get": {"operationId": name, "security": [{name: []}], "responses": {}}} for name in SCHEMES
    }
    paths["/login"] = {"post": {"operationId": "login", "security": [], "requestBody": body, "responses": {}}}
    recorder.replies["/spec"] = json_reply(document(paths, components={"securitySchemes": SCHEMES}))
    schemes = {
        "header": {"type": "header", "token": "${C_HEADER}"},
        "query": {"type": "query", "token": "${C_QUERY}"},
        "cookie": {"type": "cookie", "token": "${C_COOKIE}"},
        "basic": {"type": "basic", "username": "ann", "password": "${C_BASIC}"},
        "bearer": {"type": "bearer", "token": "${C_BEARER}"},
        "oauth": {
            "type": "oauth2",
            "token_url": f"{recorder.url}/token",
            "client_id": "us",
            "client_secret": "${C_OAUTH}",
            "client_auth": "post",
        },
    }
    target = {
        "name": "shop",
        "spec": f"{recorder.url}/spec",
        "base_url": recorder.url,
        "auth": {"schemes": schemes},
        "spec_auth": {"type": "bearer", "token": "${C_SPEC}"},
    }
    down = {**target, "name": "down", "base_url": "http://127.0.0.1:9"}
    backend = {"name": "broken", "command": sys.executable, "args": ["-c", "raise SystemExit('no')", "${C_BACKEND}"]}
    far = {"name": "far", "url": "http://127.0.0.1:9/mcp", "headers": {"Authorization": "Bearer ${C_BACKEND}"}}
    settings = {
        "data_dir": str(folder / "data"),
        "targets": [target, down],
        "mcp": {"servers": [backend, far], "startup_wait_ms": 30000},
        "policy": {"mode": "guard"},
        "approvals": {"sync_wait_s": 0.3},
        "audit": {"level": "full"},
    }
    file = folder / "nlui.yaml"
    file.write_text(json.dumps(settings))
    return file


def echo(request: Recorded) -> Reply:
    """Answer the way a careless API does: with everything it was sent, half of the time as an error."""
    sent = {
        "headers": dict(request.headers),
        "target": request.target,
        "query": parse_qs(request.target.partition("?")[2]),
    }
    sent["body"] = request.body.decode()
    return json_reply({"error": f"bad request {sent}", **sent}, 400 if len(request.target) % 2 else 200)


ENVIRONMENT = {f"C_{kind.upper()}": secret for kind, secret in CANARIES.items()}


@pytest.mark.covers("GW-AUT-6", "GW-AUD-1", "GW-AUT-3")
async def test_no_planted_secret_is_found_anywhere(recorder: Recorder, tmp_path: Path) -> None:
    recorder.default = echo
    recorder.replies["/token"] = json_reply({"access_token": ACCESS, "expires_in": 3600, "token_type": "bearer"})
    file = configured(tmp_path, recorder)
    stderr = tmp_path / "stderr.log"
    home = {"HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": str(tmp_path / "cache"), "PATH": os.environ["PATH"]}
    command = f'exec "$0" -c "$1" --mcp -v -v -v -v "$2" 2>"{stderr}"'
    server = StdioServerParameters(
        command="sh", args=["-c", command, sys.executable, NLUI, str(file)], env={**home, **ENVIRONMENT}
    )
    shown: list[str] = []
    lists: list[str] = []

    async def keep(work: Any) -> Any:
        try:
            answer = await work
        except MCPError as error:
            shown.append(f"{error.message} {error.data}")
            return None
        shown.append(answer.model_dump_json())
        return answer

    async with Client(server, mode="legacy") as client:
        await keep(client.list_tools())
        await keep(client.call_tool("shop__set_auth", {"token": CANARIES["given"], "scheme": "given"}))
        store = str(tmp_path / "data" / "approvals.db")
        asked = await anyio.to_thread.run_sync(act, store, ApprovalCommand("list"))
        shown.extend(asked)
        for line in asked:
            shown.extend(await anyio.to_thread.run_sync(act, store, ApprovalCommand("approve", (line.split()[0],))))
        for name in SCHEMES:
            await keep(client.call_tool(f"shop__{name}", {}))
            await keep(client.call_tool(f"down__{name}", {}))
            await keep(client.call_tool(f"shop__{name}", {"_dry_run": True}))
            await keep(client.call_tool("nlui__describe", {"name": f"shop__{name}"}))
        secret = {"body": {"user": "ann", "password": CANARIES["argument"], "api_key": CANARIES["argument"]}}
        waiting = await keep(client.call_tool("shop__login", secret))
        row = waiting.structured_content["approval_id"]
        shown.extend(await anyio.to_thread.run_sync(act, store, ApprovalCommand("show", (row,))))
        await keep(client.call_tool("broken__x", {}))
        for uri in ("nlui://health", "approvals://pending", "approvals://history", "compositor://servers"):
            content = (await client.read_resource(uri)).contents[0]
            assert isinstance(content, TextResourceContents)
            lists.append(content.text)
        processes = command_lines()
    audit = subprocess.run(
        [sys.executable, "-c", NLUI, "audit", "export", str(file), "--format", "csv"],
        capture_output=True,
        env={**home, **ENVIRONMENT},
        timeout=60,
        check=True,
    )

    sent = str([(request.headers, request.target, request.body) for request in recorder.requests])
    arrived = {kind for kind in (*SCHEMES, "spec") if any(form.decode() in sent for form in spelled(CANARIES[kind]))}
    assert arrived >= {"header", "query", "cookie", "basic", "bearer", "oauth", "spec", "given"}
    assert ACCESS in sent
    assert [found_in(text.encode()) for text in [*shown, *lists] if found_in(text.encode())] == []
    assert found_in(stderr.read_bytes()) == []
    assert found_in(audit.stdout + audit.stderr) == []
    assert b"shop__header" in audit.stdout
    # A command line written in the configuration is the user's own; ours never carries a secret.
    assert [line for line in processes if found_in(line) and b"SystemExit('no')" not in line] == []
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.name: found_in(path.read_bytes()) for path in files if found_in(path.read_bytes())} == {}


@pytest.mark.parametrize("place", ["postgresql://ann:{}@127.0.0.1:9/x", "mysql://ann:{}@127.0.0.1/x"])
def test_a_database_that_cannot_be_reached_is_told_without_its_password(place: str) -> None:
    with pytest.raises(UiMcpError) as caught:
        act(place.format(quote(CANARIES["database"], safe="")), ApprovalCommand("list"))

    assert found_in(caught.value.message.encode()) == []
