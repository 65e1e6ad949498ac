"""A host that speaks stdio, as Claude Code does, builds an app, shows it, hears the person and changes it live."""

import json
import re

import pytest
from playwright.sync_api import Page, expect

from journeys.conftest import Person, Telling
from journeys.hosts import StdioHost

pytestmark = pytest.mark.slow
LUA = """\
Poll = session:prototype("Poll", { tea = 0, coffee = 0 })

function Poll:vote(drink)
    self[drink] = self[drink] + 1
    mcp.pushState({ app = "poll", event = "voted", drink = drink })
end

function Poll:pickTea() self:vote("tea") end
function Poll:pickCoffee() self:vote("coffee") end

if not session.reloading then poll = Poll:new() end
"""
VIEW = """\
<template>
  <h2>What shall we drink?</h2>
  <p>
    <sl-button id="tea" ui-action="pickTea()">Tea: <b ui-value="tea"></b></sl-button>
    <sl-button id="coffee" ui-action="pickCoffee()">Coffee: <b ui-value="coffee"></b></sl-button>
  </p>
</template>
"""


def test_an_agent_builds_shows_and_changes_an_app(person: Person, tell: Telling, page: Page) -> None:
    story = tell("build-an-app")
    story.say("# An agent builds an app\n\nWhat a host such as Claude Code does over stdio, with every call it makes.")
    story.say("`ui-mcp call TOOL name=value` makes the same calls from a terminal.")
    with person.start("ui-mcp", "mcp") as process:
        host = StdioHost(process, "2025-11-25", "claude-code")
        story.say("## The server starts and installs its skills in the project")
        url = host.call(story, "ui_start").splitlines()[0]
        assert (person.home / ".claude/skills/ui-builder/SKILL.md").is_file()

        story.say("## The agent writes two files")
        app = person.home / ".claude/ui/apps/poll"
        (app / "viewdefs").mkdir(parents=True)
        for name, language, text in (("app.lua", "lua", LUA), ("viewdefs/Poll.DEFAULT.html", "html", VIEW)):
            (app / name).write_text(text)
            story.file(f".claude/ui/apps/poll/{name}", language, text)

        story.say("## It checks them, shows the app and takes a snapshot of the page")
        assert json.loads(host.call(story, "ui_audit", name="poll"))["violations"] == []
        host.call(story, "ui_display", name="poll")
        page.goto(url)
        expect(page.get_by_text("What shall we drink?")).to_be_visible()
        page.wait_for_function("Boolean(customElements.get('sl-button'))")
        look = host.ask("tools/call", name="ui_get_snapshot", arguments={"target": "page"})["content"][0]["text"]
        seen = [line for line in look.splitlines() if re.search(r"\bh2\b|\bsl-button\b", line)]
        assert len(seen) == 3, look
        story.steady(r" a\d+(?: #ui-\d+)? ", " ")
        story.call("ui_get_snapshot", {"target": "page"}, "\n".join(["…", *seen]))

        story.say("## The person clicks; the agent receives the events")
        page.locator("#tea").click()
        page.locator("#tea").click()
        expect(page.locator("#tea b")).to_have_text("2")
        heard = json.loads(host.call(story, "ui_wait", timeout=5))
        assert [event["drink"] for event in heard] == ["tea", "tea"]

        story.say("## The agent changes the view; the page updates and keeps the votes")
        changed = VIEW.replace("What shall we drink?", "One more round?")
        (app / "viewdefs/Poll.DEFAULT.html").write_text(changed)
        line = next(line for line in changed.splitlines() if line not in VIEW)
        story.file("viewdefs/Poll.DEFAULT.html, line 2", "html", line)
        expect(page.get_by_text("One more round?")).to_be_visible()
        expect(page.locator("#tea b")).to_have_text("2")
        story.picture(page, "build-an-app", "The poll after the change, with two votes for tea")
        host.call(story, "ui_run", code="return poll.tea")
        page.goto("about:blank")
