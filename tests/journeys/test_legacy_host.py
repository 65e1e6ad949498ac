"""A host of the handshake era, as VS Code is one: started from its own file, with resources."""

import json

import pytest

from journeys.conftest import Person, Telling
from journeys.hosts import StdioHost

pytestmark = pytest.mark.slow
CONFIGURATION = """\
{"servers": {"ui": {"type": "stdio", "command": "ui-mcp", "args": ["mcp"]}}}
"""


def test_an_older_host_finds_tools_resources_and_live_state(person: Person, tell: Telling) -> None:
    story = tell("legacy-host")
    story.say("# A host of the handshake era\n\nVS Code and most current hosts send `initialize` first, then requests.")
    (person.home / ".vscode").mkdir()
    (person.home / ".vscode/mcp.json").write_text(CONFIGURATION)
    story.file(".vscode/mcp.json", "json", CONFIGURATION)
    entry = json.loads(CONFIGURATION)["servers"]["ui"]
    with person.start(entry["command"], *entry["args"]) as process:
        host = StdioHost(process, "2025-06-18", "vscode")
        assert host.hello["protocolVersion"] == "2025-06-18"
        story.say("## What the host finds")
        tools = sorted(tool["name"] for tool in host.ask("tools/list")["tools"])
        resources = sorted(resource["uri"] for resource in host.ask("resources/list")["resources"])
        assert {"ui_start", "ui_display", "ui_wait", "chat_read_since"} <= set(tools)
        story.say(f"It negotiated protocol {host.hello['protocolVersion']}.")
        story.say("Tools: " + ", ".join(f"`{name}`" for name in tools) + ".")
        story.say("Resources: " + ", ".join(f"`{uri}`" for uri in resources) + ".")

        story.say("## Following the state\n\nThe host subscribes to what the person sees and is notified of changes.")
        host.call(story, "ui_start")
        host.ask("resources/subscribe", uri="ui://state")
        host.call(story, "ui_run", code="mcp.value = {title = 'Hello from an older host'}")
        state = host.ask("resources/read", uri="ui://state")["contents"][0]["text"]
        assert "Hello from an older host" in state
        host.await_heard("notifications/resources/updated", uri="ui://state")
        story.say("`notifications/resources/updated` arrived for `ui://state`, and reading it returned:")
        story.file("ui://state", "json", state)
