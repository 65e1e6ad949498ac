"""What the README lets a newcomer do first, done word for word."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.slow

README = (Path(__file__).parents[3] / "README.md").read_text()


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """Run the demo; return its address and the directory it says it serves."""
    command = [sys.executable, "-m", "ui_mcp", "demo", "dashboard", "--no-browser"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    served, address = process.stdout.readline(), process.stdout.readline()
    yield address.split()[1], Path(served.split()[-1])
    os.kill(process.pid, signal.SIGTERM)
    process.wait(20)
    process.stdout.close()


@pytest.mark.covers("UI-CLI-13")
def test_the_file_the_readme_names_changes_the_page_that_is_shown(demo: tuple[str, Path], page: Page) -> None:
    url, base = demo
    named = re.search(r"Change the heading in its\s+`(\S+\.html)`", README)
    assert named
    page.goto(url)
    expect(page.get_by_role("heading", name="Shop dashboard")).to_be_visible()

    file = base / named[1]
    file.write_text(file.read_text().replace("Shop dashboard", "My own dashboard"))

    expect(page.get_by_role("heading", name="My own dashboard")).to_be_visible()
    page.locator(".shell-brand").click()
    expect(page.locator(".shell-menu")).to_contain_text("Task board")
