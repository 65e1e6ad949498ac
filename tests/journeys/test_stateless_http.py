"""A host of the newest protocol over HTTP: no handshake, no session, any request may go to any moment's server."""

import json
import re
import subprocess

import pytest
from playwright.sync_api import Page, expect

from journeys.conftest import Person, Telling
from journeys.hosts import HttpHost

pytestmark = pytest.mark.slow


def address(process: subprocess.Popen[str], path: str) -> str:
    """Read the start-up lines until the address with that path comes."""
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(rf"http://127\S*{path}\b", line):
            return found[0]
    raise AssertionError("the server printed no address")


def test_a_stateless_host_works_across_a_restart(person: Person, tell: Telling, page: Page) -> None:
    story = tell("stateless-http")
    story.say("# A stateless host over HTTP")
    story.say(
        "Every request is independent, so a restart of the server goes unnoticed. Of each answer, `content` is shown."
    )
    story.shell("ui-mcp serve --port 0 --mcp-port 0")
    for code, answer in (("return 6 * 7", "42"), ('return "and again"', "and again")):
        with person.start("ui-mcp", "serve", "--port", "0", "--mcp-port", "0") as process:
            host = HttpHost(address(process, "/mcp"))
            found = host.ask("server/discover")
            assert "2026-07-28" in found["supportedVersions"]
            result = host.ask("tools/call", name="ui_run", arguments={"code": code})
            assert answer in result["content"][0]["text"]
            story.shell(host.curl("tools/call", name="ui_run", arguments={"code": code}), json.dumps(result["content"]))
            status = json.loads(host.ask("tools/call", name="ui_status", arguments={})["content"][0]["text"])
            page.goto(status["url"])
            expect(page.locator("body")).to_contain_text("ui-mcp")
            page.goto("about:blank")
        story.say("The server is stopped.")
