"""The commands of our texts, typed one after the other in a terminal."""

import json
import os
import re
import sqlite3
import subprocess
from configparser import ConfigParser
from pathlib import Path

from agreeing import agree, agree_to_gateway
from docs.blocks import ROOT, Block, block, blocks, one_by_one, together
from docs.terminal import Terminal, get
from introspection.demos import needs

SCRIPTED = """
llm:
  provider: scripted
  script:
    - {when: {user: new}, emit: [{call: chat_assistant_post, args: {content: Nothing}}]}
    - {emit: [{call: loop_yield_turn}]}
"""


def lines_of(process: "subprocess.Popen[str]", count: int) -> list[str]:
    assert process.stdout is not None
    return [process.stdout.readline().strip() for _ in range(count)]


@together("run", *blocks("docs/chat.md", "sh"))
def test_the_chat_is_served_joined_guarded_and_moved(given: tuple[Block, ...], terminal: Terminal) -> None:
    ways, tokens, moving = given
    assistant, human, post = ways.commands
    assert terminal.speaks(assistant)["name"] == "ui-mcp-chat-assistant"
    terminal.run(post)
    create, rotate, link = tokens.commands
    with terminal.serving(human) as (url,):
        assert get(f"{url}/chat", headers={"accept": "text/html"}).status_code == 200
        assert get(f"{url}/chat/messages").status_code == 401
        first, second = terminal.run(create).strip(), terminal.run(rotate).strip()
        for token in (first, second):
            assert "Deploy now?" in get(f"{url}/chat/messages", headers={"authorization": f"Bearer {token}"}).text
        terminal.replaced["http://127.0.0.1:8010"] = url
        [address] = re.findall(r"http\S+", terminal.run(link))
        assert address.startswith(url)
        assert get(address, headers={"accept": "text/html"}).status_code == 200

    backup, restore = moving.commands
    terminal.run(backup)
    config = terminal.home / ".claude/ui/config/config.toml"
    config.parent.mkdir(exist_ok=True)
    config.write_text(f'[storage]\nurl = "sqlite:///{terminal.home}/new.db"\n')
    agree(terminal.home / ".claude/ui", terminal.home)
    terminal.run(restore)
    assert "Deploy now?" in terminal.run("ui-mcp chat history")
    assert sqlite3.connect(terminal.home / "new.db").execute("select count(*) from messages").fetchone() == (1,)


@together("run", block("docs/howto/talk.md", "ui-mcp chat post"))
def test_the_chat_in_a_terminal_says_shows_and_exports(given: tuple[Block], terminal: Terminal) -> None:
    post, history, export = given[0].commands

    said = terminal.run(post).strip()
    assert terminal.run(history).endswith("user: Deploy at noon?\n")
    assert json.loads(terminal.run(export))["id"] == said


@together("run", block("docs/agent.md", "ui-mcp agent"))
def test_the_agent_answers_what_is_posted(given: tuple[Block], terminal: Terminal) -> None:
    init, agent, follow, post = given[0].commands
    terminal.run(init)
    file = terminal.home / "nlui.yaml"
    written = file.read_text()
    file.write_text(SCRIPTED + written[written.index("# HTTP APIs") :])
    agree_to_gateway(file, terminal.home / ".config")
    with terminal.going(agent), terminal.following(follow) as following:
        terminal.run(post)
        [asked, answered] = lines_of(following, 2)

    assert asked.endswith("user: What is new?")
    assert answered.endswith("assistant: Nothing")


@together("run", *blocks("docs/commands.md", "sh"))
def test_completion_scripts_are_put_where_shells_look(given: tuple[Block, ...], terminal: Terminal) -> None:
    needs("zsh")
    needs("fish")
    bash, zsh, fish = given
    for folder in (".local/share/bash-completion/completions", ".config/fish/conf.d", "functions"):
        (terminal.home / folder).mkdir(parents=True)
    for line in bash.commands:
        terminal.run(line)
    terminal.run(f"fpath=(before ~/functions); {zsh.commands[0]}")
    terminal.run(fish.commands[0])

    completions = terminal.home / ".local/share/bash-completion/completions"
    for command, file in {
        "bash -n": completions / "nlui",
        "zsh -n": terminal.home / "functions/_ui-mcp",
        "fish --no-execute": terminal.home / ".config/fish/conf.d/ui-mcp.fish",
    }.items():
        assert file.stat().st_size > 500
        terminal.run(f"{command} {file}")


@together("compared", *blocks("docs/commands.md", ""))
def test_the_doctor_looks_at_what_the_page_shows(given: tuple[Block], terminal: Terminal) -> None:
    terminal.run("ui-mcp install")
    finding = re.compile(r"^(ok|note|PROBLEM) +(\S+(?: \S+)*?)  ", re.MULTILINE)
    [shown] = given
    assert shown.commands[0] == "$ ui-mcp doctor"

    said = terminal.run("ui-mcp doctor || true")

    assert [name for _, name in finding.findall(said)] == [name for _, name in finding.findall(shown.code)]


@together("run", block("docs/howto/look.md", "ui-mcp attach"))
def test_what_can_be_attached_to_is_listed(given: tuple[Block], terminal: Terminal) -> None:
    [line] = given[0].commands

    assert re.search(r"^(Found no running Java programs| *\d+ )", terminal.run(line), re.MULTILINE)


@together("run", block("docs/howto/remote.md", "ui-mcp token"))
def test_people_get_tokens_and_lose_them(given: tuple[Block], terminal: Terminal) -> None:
    create, listing, revoke = given[0].commands

    assert terminal.run(create).startswith("uimcp_")
    assert "ada  ended" not in terminal.run(listing)
    terminal.run(revoke)
    assert "ada  ended" in terminal.run(listing)


@one_by_one("started", block("docs/howto/remote.md", "ssh"))
def test_the_tunnel_forwards_the_ports_we_listen_on(block: Block, terminal: Terminal) -> None:
    [line] = block.commands

    assert terminal.run(line) == "Would forward\n"


@together("started", block("docs/howto/deploy.md", "ExecStart"))
def test_the_unit_of_the_service_starts_a_server(given: tuple[Block], terminal: Terminal) -> None:
    unit = ConfigParser()
    unit.optionxform = str  # type: ignore[method-assign, assignment]
    unit.read_string(given[0].code)
    assert unit["Service"]["WorkingDirectory"] == "/path/to/project"

    with terminal.serving(unit["Service"]["ExecStart"]) as (ui, *_):
        assert get(ui, follow_redirects=True).status_code == 200


@together("started", block("README.md", "make run"))
def test_make_run_starts_the_demo_and_prints_where_it_is(given: tuple[Block], terminal: Terminal) -> None:
    [line] = given[0].commands
    program, demo = planned(line)[-1].split()
    assert (Path(program).name, demo) == ("ui-mcp", "demo")

    with terminal.going("ui-mcp demo") as process:
        title, ui, _ = lines_of(process, 3)
        assert get(ui.split()[1], follow_redirects=True).status_code == 200
        folder = Path(title.split()[-1])
        assert "<h" in (folder / "apps/dashboard/viewdefs/Dashboard.DEFAULT.html").read_text()


@together("started", *blocks("CONTRIBUTING.md"))
def test_make_knows_every_target_and_what_it_is_for(given: tuple[Block]) -> None:
    for line in given[0].commands:
        assert planned(line)


def planned(line: str) -> list[str]:
    """Return what a `make` would do."""
    needs("make")
    free = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    words = [*line.split(), "--dry-run", "--no-print-directory", "-C", str(ROOT)]
    return subprocess.run(words, env=free, capture_output=True, text=True, check=True).stdout.splitlines()
