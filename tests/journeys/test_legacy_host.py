"""A host that begins with `initialize`, as VS Code does: started from its own file, with resources."""

import json

import pytest

from journeys.conftest import Person, Telling
from journeys.hosts import StdioHost

pytestmark = pytest.mark.slow
CONFIGURATION = """\
{"servers": {"ui": {"type": "stdio", "command": "ui-mcp", "args": ["mcp"]}}}
"""
# A few of each: the page must not change with every tool that is added.
TOOLS = ("ui_start", "ui_display", "ui_run", "ui_wait", "ui_get_snapshot", "chat_read_since")
RESOURCES = ("ui://reference", "ui://state", "ui://events", "ui://chat/inbox")


def test_an_older_host_finds_tools_resources_and_live_state(person: Person, tell: Telling) -> None:
    story = tell("legacy-host")
    story.say("# A host that begins with `initialize`")
    story.say("VS Code and most current hosts send `initialize` first, then requests.")
    (person.home / ".vscode").mkdir()
    (person.home / ".vscode/mcp.json").write_text(CONFIGURATION)
    story.file(".vscode/mcp.json", "json", CONFIGURATION)
    entry = json.loads(CONFIGURATION)["servers"]["ui"]
    with person.start(entry["command"], *entry["args"]) as process:
        host = StdioHost(process, "2025-06-18", "vscode")
        assert host.hello["protocolVersion"] == "2025-06-18"
        story.say("## What the host finds")
        tools = {tool["name"] for tool in host.ask("tools/list")["tools"]}
        resources = {resource["uri"] for resource in host.ask("resources/list")["resources"]}
        assert set(TOOLS) <= tools
        assert set(RESOURCES) <= resources
        story.say(f"It negotiated protocol {host.hello['protocolVersion']}.")
        story.say(f"[Tools](../reference/tools.md), among them {named(TOOLS)}.")
        story.say(f"[Resources](../reference/resources.md), among them {named(RESOURCES)}.")

        story.say("## Following the state\n\nThe host subscribes to what the person sees and is notified of changes.")
        host.call(story, "ui_start")
        host.ask("resources/subscribe", uri="ui://state")
        host.call(story, "ui_run", code="mcp.value = {title = 'Hello from an older host'}")
        state = host.ask("resources/read", uri="ui://state")["contents"][0]["text"]
        assert "Hello from an older host" in state
        host.await_heard("notifications/resources/updated", uri="ui://state")
        story.say("`notifications/resources/updated` arrived for `ui://state`, and reading it returned:")
        story.file("ui://state", "json", state)


def named(names: tuple[str, ...]) -> str:
    """Put the names into a sentence."""
    return f"{', '.join(f'`{name}`' for name in names[:-1])} and `{names[-1]}`"
