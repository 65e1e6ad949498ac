"""The chat on the ui server: the agent's tools, the person's page, events in the queue."""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path

import httpx2
import pytest

from agreeing import agree
from integration.lineclient import LineClient
from person_client import HTML, person
from terminals import with_terminal


def ui_mcp(*arguments: str, cwd: Path) -> str:
    command = with_terminal([sys.executable, "-m", "ui_mcp", *arguments])
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True, timeout=60).stdout.strip()


@pytest.mark.covers("CHAT-UI-1", "R-PO-2")
def test_the_agent_chats_before_and_without_starting_the_ui(tmp_path: Path) -> None:
    with LineClient(cwd=tmp_path) as agent:
        names = [tool["name"] for tool in agent.request("tools/list")["tools"]]
        said = agent.call("chat_assistant_post", content="hello")
        asked = ui_mcp("chat", "post", "who is there?", cwd=tmp_path)
        page = agent.call("chat_wait_since", after_id=said["id"], timeout_s=60)
        inbox = json.loads(agent.request("resources/read", {"uri": "ui://chat/inbox"})["contents"][0]["text"])

    assert {"chat_assistant_post", "chat_read_since", "chat_wait_since"} <= set(names)
    assert "chat_human_post" not in names
    assert [(message["id"], message["author"]) for message in page["messages"]] == [(asked, "user")]
    assert [message["content"] for message in inbox["messages"]] == ["hello", "who is there?"]


@pytest.mark.covers("CHAT-UI-2")
def test_a_post_of_the_human_is_announced_and_put_into_the_event_queue(tmp_path: Path) -> None:
    with LineClient(cwd=tmp_path) as agent:
        agent.call("ui_start")
        agent.request("resources/subscribe", {"uri": "ui://chat/inbox"})
        posted = ui_mcp("chat", "post", "look here", cwd=tmp_path)
        events = agent.call("ui_wait", timeout=60)
        mcp = f"http://127.0.0.1:{(tmp_path / '.claude/ui/mcp-port').read_text()}"
        with urllib.request.urlopen(f"{mcp}/wait?timeout=1", timeout=60) as answer:
            drained = answer.status

    (event,) = events
    assert (event["app"], event["event"], event["last_id"]) == ("ui-mcp", "chat_message", posted)
    assert [message["content"] for message in event["messages"]] == ["look here"]
    assert drained == 204


@pytest.mark.covers("CHAT-UI-2", "CHAT-UI-4")
def test_who_waits_gets_what_was_written_before_the_server_had_read_its_chat(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from ui_mcp.ui import chat_events\n"
        "from ui_mcp.cli import entry\n"
        "chat_events.QUIET_SECONDS = float('inf')\n"
        "sys.argv = ['ui-mcp', 'serve', '--port', '0', '--mcp-port', '0']\n"
        "sys.exit(entry.main())\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        _, _, mcp = (server.stdout.readline().split()[1] for _ in range(3))
        try:
            posted = ui_mcp("chat", "post", "anyone?", cwd=tmp_path)
            answer = httpx2.get(f"{mcp.removesuffix('/mcp')}/wait?timeout=60", timeout=120)
        finally:
            server.terminate()

    (event,) = answer.json()
    assert (event["event"], event["last_id"]) == ("chat_message", posted)


@pytest.mark.covers("CHAT-UI-3", "R-BR-4")
def test_the_ui_port_reads_by_its_cookie_the_mcp_port_by_a_token_and_the_person_writes(tmp_path: Path) -> None:
    with LineClient(cwd=tmp_path) as agent:
        url = agent.call("ui_start")
        mcp = f"http://127.0.0.1:{(tmp_path / '.claude/ui/mcp-port').read_text()}"
        person_url = agent.call("ui_status")["person_url"]
        with person(person_url) as human:
            posted = human.post("/chat/messages", json={"content": "from the page"})
        with httpx2.Client(base_url=url, timeout=60) as app:
            assert app.get("/chat/inbox").status_code == 401
            app.get("/")
            by_app = app.post("/chat/messages", json={"content": "from the app"})
            as_page = app.get("/chat", headers=HTML)
            as_json = app.get("/chat", headers={"accept": "application/json"}).json()
        token = ui_mcp("token", "create", "bot", "--role", "agent", cwd=tmp_path)
        with httpx2.Client(base_url=mcp, timeout=60) as script:
            refused = script.get("/chat/messages")
            page = script.get("/chat/messages", headers={"authorization": f"Bearer {token}"}).json()
            answered = script.post(
                "/chat/messages", json={"content": "by script"}, headers={"authorization": f"Bearer {token}"}
            )
        texts = [message["content"] for message in agent.call("chat_read_since")["messages"]]

    assert [posted.status_code, refused.status_code, answered.status_code] == [201, 401, 201]
    assert by_app.status_code == 405
    assert (as_page.status_code, as_page.headers["location"]) == (307, f"{person_url}/chat")
    assert as_json["last_id"] == page["last_id"] == posted.json()["id"]
    assert texts == ["from the page", "by script"]


@pytest.mark.covers("CHAT-OPEN-1")
def test_without_its_database_the_chat_says_so_and_everything_else_works(tmp_path: Path) -> None:
    (tmp_path / ".claude/ui/config").mkdir(parents=True)
    url = f"postgresql://me:hunter2@/chat?host={tmp_path}"
    (tmp_path / ".claude/ui/config/config.toml").write_text(f'[storage]\nurl = "{url}"\n')
    agree(tmp_path / ".claude/ui")
    with LineClient(cwd=tmp_path) as agent:
        failed = agent.call("chat_read_since")["error"]
        started = agent.call("ui_start")

    assert failed["code"] == "storage_error"
    assert f"postgresql://me@/chat?host={tmp_path}" in failed["message"]
    assert started.startswith("http://127.0.0.1:")
