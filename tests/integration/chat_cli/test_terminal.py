"""Chat and token commands as people type them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from anyio import to_thread

from terminals import with_terminal
from ui_mcp.agent.journal import NewEvent
from ui_mcp.agent.journal_store import JournalStore, journal_place


def ui_mcp(*arguments: str, cwd: Path, stdin: str | None = None) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "ui_mcp", *arguments]
    if stdin is None:
        command = with_terminal(command)
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, input=stdin, timeout=60, check=False)


@pytest.mark.covers("CHAT-CLI-1", "R-ST-8")
def test_post_history_export_and_backup(tmp_path: Path) -> None:
    first = ui_mcp("chat", "post", "Deploy", "now?", cwd=tmp_path).stdout.strip()
    ui_mcp("chat", "post", "--face", "assistant", cwd=tmp_path, stdin="No.\n")
    history = ui_mcp("chat", "history", cwd=tmp_path).stdout.splitlines()
    export = [json.loads(line) for line in ui_mcp("chat", "export", cwd=tmp_path).stdout.splitlines()]
    later = ui_mcp("chat", "export", "--after", first, "--format", "csv", cwd=tmp_path).stdout.splitlines()
    backup = ui_mcp("chat", "backup", "copy.db", cwd=tmp_path)

    assert [line.split(" ", 1)[1] for line in history if line] == ["user: Deploy now?", "assistant: No."]
    assert [(entry["author"], entry["content"]) for entry in export] == [
        ("user", "Deploy now?"),
        ("assistant", "No."),
    ]
    assert export[0]["id"] == first
    assert later[0] == "id,ts,author,mime,content"
    assert ",assistant,text/markdown," in later[1]
    assert (backup.returncode, (tmp_path / "copy.db").stat().st_size > 4096) == (0, True)
    assert ui_mcp("chat", "restore", "copy.db", "--dir", "other", cwd=tmp_path).returncode == 0
    assert ui_mcp("chat", "history", "--dir", "other", cwd=tmp_path).stdout.splitlines() == history
    assert [path.name for path in (tmp_path / ".claude/ui").iterdir()] == [".ui-mcp"]


@pytest.mark.covers("CHAT-CLI-1")
def test_follow_prints_what_comes(tmp_path: Path) -> None:
    before = ui_mcp("chat", "post", "old", cwd=tmp_path).stdout.strip()
    command = [sys.executable, "-m", "ui_mcp", "chat", "follow", "--after", before]
    with subprocess.Popen(with_terminal(command), cwd=tmp_path, stdout=subprocess.PIPE, text=True) as follower:
        ui_mcp("chat", "post", "new \x1b[2J", cwd=tmp_path)
        assert follower.stdout is not None
        line = follower.stdout.readline()
        follower.terminate()

    assert line.split(" ", 1)[1] == "user: new \N{REPLACEMENT CHARACTER}[2J\n"


@pytest.mark.covers("CHAT-CLI-2")
async def test_follow_prints_why_no_answer_comes_and_how_to_answer_a_question(tmp_path: Path) -> None:
    journal = JournalStore(journal_place(None, tmp_path / ".claude/ui/.ui-mcp"))
    ui_mcp("chat", "post", "Deploy?", cwd=tmp_path)
    lease = await journal.take_lease("default", "a test", 60)
    assert lease
    asked = {"approval_id": "a1", "call_id": "1", "tool": "shop__deploy", "args": {"to": "\x1b[2J"}, "digest": "d"}
    settled = {"approval_id": "a0", "call_id": "0", "tool": "shop__list", "args": {}, "digest": "d"}
    for event in [
        NewEvent("notice", {"level": "error", "text": "before"}),
        NewEvent("approval_requested", settled),
        NewEvent("approval_decided", {"approval_id": "a0", "status": "approved"}),
        NewEvent("approval_requested", asked),
    ]:
        await journal.append("default", lease, [event])
    command = with_terminal([sys.executable, "-m", "ui_mcp", "chat", "follow"])
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as follower:
        assert follower.stdout is not None
        lines = [await to_thread.run_sync(follower.stdout.readline) for _ in range(2)]
        await journal.append("default", lease, [NewEvent("notice", {"level": "error", "text": "The key is refused"})])
        lines.append(await to_thread.run_sync(follower.stdout.readline))
        follower.terminate()
    await journal.close()

    assert [line.split(" ", 1)[1] for line in (lines[0], lines[2])] == [
        'waits for you: shop__deploy {"to":"\\u001b[2J"}\n',
        "error: The key is refused\n",
    ]
    assert lines[1] == "  ui-mcp approvals approve a1  (or deny)\n"


@pytest.mark.covers("R-BR-6", "R-ID-3")
def test_tokens_are_made_listed_rotated_and_revoked(tmp_path: Path) -> None:
    token = ui_mcp("token", "create", "alice", "--role", "human", cwd=tmp_path).stdout.strip()
    twice = ui_mcp("token", "create", "alice", "--role", "human", cwd=tmp_path)
    rotated = ui_mcp("token", "rotate", "alice", "--grace", "0", cwd=tmp_path).stdout.strip()
    listed = ui_mcp("token", "list", cwd=tmp_path).stdout
    revoked = ui_mcp("token", "revoke", "alice", cwd=tmp_path)
    gone = ui_mcp("token", "revoke", "alice", cwd=tmp_path)

    assert token.startswith("uimcp_")
    assert rotated != token
    assert (twice.returncode, "rotate or revoke" in twice.stderr) == (1, True)
    assert [line.split()[3] for line in listed.splitlines()] == ["ended", "good"]
    assert token not in listed
    assert [revoked.returncode, gone.returncode] == [0, 1]


@pytest.mark.covers("R-IN-10")
def test_a_refused_post_says_why_on_stderr(tmp_path: Path) -> None:
    done = ui_mcp("chat", "post", "--conversation", "no/where", "x", cwd=tmp_path)

    assert done.returncode == 1
    assert done.stderr.startswith("ui-mcp: No conversation is called 'no/where'")
    assert "Traceback" not in done.stderr


@pytest.mark.covers("UI-OWN-1")
def test_the_chat_of_an_older_version_goes_on_and_what_it_says_later_can_be_read(tmp_path: Path) -> None:
    storage = tmp_path / ".claude/ui/storage"
    ui_mcp("chat", "post", "old", cwd=tmp_path)
    (tmp_path / ".claude/ui/.ui-mcp").rename(storage)

    ui_mcp("chat", "post", "new", cwd=tmp_path)
    ui_mcp("chat", "post", "late", "--dir", "other", cwd=tmp_path)
    (tmp_path / "other/.ui-mcp/runtime.db").rename(storage / "runtime.db")
    history = ui_mcp("chat", "history", cwd=tmp_path).stdout.splitlines()
    late = ui_mcp("chat", "history", "--store", str(storage / "runtime.db"), cwd=tmp_path).stdout

    assert [line.split(" ", 1)[1] for line in history] == ["user: old", "user: new"]
    assert late.endswith("user: late\n")
    missing = ui_mcp("chat", "history", "--store", "none.db", cwd=tmp_path)
    assert (missing.returncode, "There is no store none.db" in missing.stderr) == (1, True)
