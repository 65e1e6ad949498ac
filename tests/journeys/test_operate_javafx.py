"""A JavaFX program that was made without us is attached while it runs, read and operated by an agent."""

import json
import os
import re
import subprocess
from base64 import b64decode
from collections.abc import Iterator

import pytest

from introspection.demos import DEBIAN_JAVAFX, compiled, debian_cell, display_command
from journeys.conftest import Person, Telling
from journeys.hosts import StdioHost
from journeys.story import Story

pytestmark = pytest.mark.slow
SHOWN_LINES = 14
MODULES = ("-p", str(DEBIAN_JAVAFX), "--add-modules", "javafx.controls")


@pytest.fixture
def screen() -> Iterator[str]:
    """A display of our own."""
    debian_cell()
    reading, writing = os.pipe()
    with subprocess.Popen(display_command(writing), stderr=subprocess.DEVNULL, pass_fds=[writing]) as process:
        os.close(writing)
        with os.fdopen(reading) as pipe:
            yield f":{pipe.readline().strip()}"
        process.terminate()


@pytest.fixture
def program(screen: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The demo, started as anybody would start it."""
    folder = tmp_path_factory.mktemp("program")
    command = ["java", *MODULES, "-Dprism.order=sw", "-cp", str(compiled(folder)), "Demo"]
    environment = {**os.environ, "DISPLAY": screen}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        while "READY" not in (line := process.stdout.readline()):
            assert line, "the program ended"
        yield process.pid
        assert process.poll() is None
        process.kill()


def test_an_agent_operates_a_javafx_program_that_knows_nothing_of_it(
    person: Person, tell: Telling, program: int
) -> None:
    story = tell("operate-javafx")
    named: dict[str, str] = {}
    story.steady(rf"\b{program}\b", "4711")
    story.steady(rf" *\b{program}\b(?=  )", "4711")
    story.steady(r"\bnow [0-9a-f]{10}", "now 1234567890")
    story.steady(r'{"minX"[^}]*}', "{…}")
    story.say(
        "# An agent operates a JavaFX program\n\nThe program, `examples/javafx/Demo.java`, is already running. It was"
        " neither changed nor started with special options."
    )
    story.shell("java -p /usr/share/openjfx/lib --add-modules javafx.controls -cp classes Demo &")
    story.say("## A person attaches the program")
    ours = [line for line in person.run("ui-mcp", "attach").splitlines() if line.split()[0] == str(program)]
    story.shell("ui-mcp attach", "\n".join(ours))
    story.shell(f"ui-mcp attach {program}", person.run("ui-mcp", "attach", str(program)))

    with person.start("ui-mcp", "mcp") as process:
        host = StdioHost(process, "2025-11-25", "claude-code")
        uids = look(story, host, named)
        operate(story, host, uids)

    story.say("## The person detaches the program; it keeps running")
    story.shell(
        f"ui-mcp attach --detach javafx-{program}", person.run("ui-mcp", "attach", "--detach", f"javafx-{program}")
    )


def look(story: Story, host: StdioHost, named: dict[str, str]) -> dict[str, str]:
    """See the program, and return its uids by id."""
    story.say("## The agent takes a snapshot")
    wanted = {"target": "javafx"}
    text = host.ask("tools/call", name="ui_get_snapshot", arguments=wanted)["content"][0]["text"]
    story.call("ui_get_snapshot", wanted, "\n".join([*text.splitlines()[:SHOWN_LINES], "…"]))
    prefix = re.search(r"^  VBox ([a-z]{2})\d+", text, re.MULTILINE)
    assert prefix is not None, text
    # Uids begin with letters of the process; the reader sees them numbered as they appear.
    story.steady(rf"\b{prefix[1]}\d+\b", lambda found: named.setdefault(found.group(), f"fx{len(named) + 1}"))
    assert "masked" in text
    assert "hunter2" not in text
    return {id_: uid for uid, id_ in re.findall(r"(\S+) #(\S+)", text)}


def operate(story: Story, host: StdioHost, uids: dict[str, str]) -> None:
    story.say("## It types, clicks and sees the effect in the same answer")
    actions = [
        {"type": "setText", "target": uids["name"], "text": "Zoë 漢😀"},
        {"type": "click", "target": uids["okButton"]},
    ]
    done = json.loads(host.call(story, "ui_perform", target="javafx", actions=actions, observe="diff"))
    assert [entry["ok"] for entry in done["results"]] == [True, True]
    assert '"clicked 1"' in done["observed"]

    story.say("## An action that a person could not perform is rejected immediately")
    refused = {"target": "javafx", "actions": [{"type": "click", "target": uids["off"]}]}
    answer = host.ask("tools/call", name="ui_perform", arguments=refused)
    assert answer["structuredContent"]["error"]["details"]["reason"] == "DISABLED"
    story.call("ui_perform", refused, answer["content"][0]["text"])

    story.say("## Every row of a long table can be addressed, even if it is not visible")
    chosen = [{"type": "select", "target": uids["tabs"], "value": "Table"}]
    host.call(story, "ui_perform", target="javafx", actions=chosen)
    table = json.loads(host.call(story, "ui_query", target="javafx", selector={"css": "#people"}, limit=1))
    row = f"{table['matches'][0]['ref']['uid']}:r700"
    host.call(story, "ui_perform", target="javafx", actions=[{"type": "click", "target": row}])
    picture = host.ask("tools/call", name="ui_screenshot", arguments={"target": "javafx", "maxWidth": 700})
    story.image(b64decode(picture["content"][0]["data"]), "operate-javafx", "The program, scrolled to the selected row")
    assert picture["content"][0]["mimeType"] == "image/png"
