"""What lies on disk after a run: secrets and stores for their owner alone, and no token in any log or command line."""

import json
import os
import stat
import subprocess
import sys
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path

import httpx2
import pytest

from integration.test_serve import Agent, serve
from security.processes import command_lines
from ui_mcp.app.commands.approvals import ApprovalCommand, act

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
PRIVATE = ("*.db", "*.db-wal", "*.db-shm", "mcp-token", "audit.jsonl*", "*.key", "*token*")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def open_to_others(folder: Path) -> list[str]:
    """Return the private files that others on the machine could read, by themselves or by their folder."""
    found = []
    for parent, _, names in os.walk(folder):
        for path in (Path(parent, name) for name in names if any(fnmatch(name, glob) for glob in PRIVATE)):
            with suppress(FileNotFoundError):  # a database takes its companions away when it is closed
                if mode(path) & 0o077:
                    found.append(f"{path.relative_to(folder)} {mode(path):o}")
    return sorted(found)


@pytest.mark.covers("UI-SEC-5", "R-ST-9", "R-ID-5")
def test_a_servers_secrets_are_private_and_told_nowhere(tmp_path: Path) -> None:
    previous = os.umask(0o022)
    try:
        with serve(tmp_path, "-v", "-v", "-v", config="[server]\nrequire_token = true\n") as (ui, mcp):
            token_file = next(tmp_path.rglob("mcp-token"))
            token = token_file.read_text().strip()
            agent = Agent(mcp, authorization=f"Bearer {token}")
            agent.call("ui_run", code="return 1")
            page = httpx2.get(ui, follow_redirects=True, timeout=60)
            refused = httpx2.post(
                f"{mcp}/mcp", json={}, headers={"authorization": "Bearer wrong-token-canary"}, timeout=60
            )
            httpx2.get(f"{mcp}/state?token={token}", timeout=60)
            httpx2.get(f"{ui}/icons/no-such.svg?token={token}", timeout=60)
            commands = b"".join(command_lines())
            exposed = open_to_others(tmp_path)
    finally:
        os.umask(previous)

    logs = b"".join(path.read_bytes() for path in tmp_path.rglob("*.log*"))
    assert refused.status_code == 401
    base = token_file.parent
    assert [mode(base / name) for name in ("storage", "log", ".ui-mcp")] == [0o700] * 3
    assert exposed == []
    assert token.encode() not in commands
    assert b"no-such" in logs
    assert token.encode() not in logs
    assert b"wrong-token-canary" not in logs
    assert token not in page.text


@pytest.mark.covers("R-ST-9", "GW-AUD-1", "GW-REL-3")
def test_a_gateways_files_are_private(tmp_path: Path) -> None:
    previous = os.umask(0o022)
    try:
        data = tmp_path / "data"
        spec = {
            "openapi": "3.0.0",
            "info": {"title": "t", "version": "1"},
            "paths": {"/x": {"post": {"operationId": "x"}}},
        }
        (tmp_path / "spec.json").write_text(json.dumps(spec))
        target = {"name": "shop", "spec": str(tmp_path / "spec.json"), "base_url": "http://127.0.0.1:9"}
        settings = {"data_dir": str(data), "targets": [target], "policy": {"rules": [{"decision": "allow"}]}}
        (tmp_path / "nlui.yaml").write_text(json.dumps(settings))
        entry = "from ui_mcp.cli.entry import nlui_main; raise SystemExit(nlui_main())"
        subprocess.run(
            [sys.executable, "-c", entry, "call", "shop__x", "--config", str(tmp_path / "nlui.yaml")],
            capture_output=True,
            timeout=120,
            check=False,
        )
    finally:
        os.umask(previous)

    assert act(str(data / "approvals.db"), ApprovalCommand("list")) == ["Nothing is pending."]
    assert mode(data) == 0o700
    assert (data / "audit.jsonl").is_file()
    assert [str(path) for path in data.rglob("*") if path.is_file() and mode(path) & 0o077] == []
