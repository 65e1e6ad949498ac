"""The official conformance suite against our core, in every revision it knows."""

import re
from pathlib import Path

import pytest

from conformance.node import npx

STABLE = "@modelcontextprotocol/conformance@0.1.16"
NEXT = "@modelcontextprotocol/conformance@0.2.0-alpha.12"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.mark.covers("MCP-CONF-1", "MCP-CONF-2", "MCP-CONF-3")
def test_the_active_suite_passes_whole(fixture_url: str, tmp_path: Path) -> None:
    done = npx(STABLE, "server", "--url", fixture_url, timeout=800, cwd=tmp_path)

    assert done.returncode == 0, done.stdout
    assert "dns-rebinding-protection: 2 passed, 0 failed" in done.stdout
    assert _failed(done.stdout) == set()


@pytest.mark.covers("MCP-CONF-3", "MCP-ERA-1")
def test_everything_2025_11_25_requires_passes(fixture_url: str, tmp_path: Path) -> None:
    done = npx(NEXT, "server", "--url", fixture_url, "--requirements", "2025-11-25", timeout=800, cwd=tmp_path)

    assert done.returncode == 0, done.stdout
    assert _failed(done.stdout) == set()


@pytest.mark.covers("MCP-CONF-3", "MCP-ERA-1", "MCP-ERA-4", "MCP-HTTP-2", "MCP-TASK-1")
def test_everything_2026_07_28_requires_passes_tasks_too(fixture_url: str, tmp_path: Path) -> None:
    done = npx(NEXT, "server", "--url", fixture_url, "--requirements", "2026-07-28", timeout=800, cwd=tmp_path)

    assert done.returncode == 0, done.stdout
    assert _failed(done.stdout) == set()
    assert "tasks-lifecycle" in done.stdout


def _failed(report: str) -> set[str]:
    summary = report.split("=== SUMMARY ===")[1]
    assert "Total: " in summary
    return set(re.findall(r"✗ ([a-z0-9-]+):", summary))
