"""Questions: answered once, kept over restarts, expired and withdrawn."""

import os
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from socket import gethostname

import anyio
import pytest

from chat.conftest import postgres_server, postgres_url  # noqa: F401 - fixtures
from stores import opened as opened_store
from ui_mcp.errors import AlreadyDecidedError, ExpiredError, InvalidArgumentsError, NotFoundError
from ui_mcp.inbox.model import Field, Option, Question
from ui_mcp.inbox.service import Inbox, Reply, holder_runs, inbox_opener, opened
from ui_mcp.inbox.store import open_questions
from ui_mcp.jsontypes import JsonObject

COLOUR = Field("1", "Which colour?", "choice", (Option("red", "Red"), Option("blue", "Blue")))
ALLOW = Reply("allow", "human")


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "inbox.db")
    make: Callable[[], str] = request.getfixturevalue("postgres_url")
    return make()


def permission(inbox: Inbox, lifetime: float = 600, *, held: bool = False) -> Question:
    body: JsonObject = {"tool": "Bash", "arguments": {"command": "ls"}}
    return inbox.new(
        "permission", "Claude wants to list files", body, source="claude-code", agent="Claude", lifetime=lifetime,
        held=held,
    )  # fmt: skip


def form(inbox: Inbox, *fields: Field) -> Question:
    body: JsonObject = {"fields": [one.to_json() for one in fields]}
    return inbox.new("form", "Claude asks", body, source="ui_ask", agent="Claude", lifetime=600)


@pytest.mark.covers("INBOX-2")
async def test_a_question_outlives_its_server_and_its_first_answer_counts(place: str) -> None:
    async with opened(place) as asking:
        asked = await asking.ask(permission(asking))
    async with opened(place) as answering:
        (found,) = await answering.pending()
        settled = await answering.answer(asked.id, Reply("allow", "human", reason="fine"))
        with pytest.raises(AlreadyDecidedError) as late:
            await answering.answer(asked.id, Reply("deny", "human"))
    async with opened(place) as after:
        kept = await after.settled(asked.id, 5)
        waiting, past = await after.pending(), await after.history()

    assert found == asked
    assert (kept, waiting, past) == (settled, [], [settled])
    assert (kept.status, kept.answer) == ("answered", {"decision": "allow", "reason": "fine"})
    assert late.value.message == "Already answered by human"


@pytest.mark.covers("INBOX-2")
async def test_of_many_answers_at_once_one_is_taken(place: str) -> None:
    taken: list[Question] = []
    refused: list[str] = []

    async def answer(decision: str) -> None:
        async with opened(place) as inbox:
            try:
                taken.append(await inbox.answer(asked.id, Reply(decision, decision)))  # type: ignore[arg-type]
            except AlreadyDecidedError as error:
                refused.append(error.message)

    async with opened(place) as inbox:
        asked = await inbox.ask(permission(inbox))
        async with anyio.create_task_group() as tasks:
            for decision in ("allow", "deny", "allow_always", "deny_stop"):
                tasks.start_soon(answer, decision)
        kept = await inbox.get(asked.id)

    assert [kept] == taken
    assert len(refused) == 3


@pytest.mark.covers("INBOX-3")
async def test_a_question_past_its_time_allows_nothing(tmp_path: Path) -> None:
    now = 1000.0
    async with opened_store(open_questions, str(tmp_path / "inbox.db")) as store:
        inbox = Inbox(store, now=lambda: now)
        asked = await inbox.ask(permission(inbox, lifetime=10))
        now = 1010.0
        with pytest.raises(ExpiredError):
            await inbox.answer(asked.id, ALLOW)
        kept = await inbox.get(asked.id)

    assert (kept.status, kept.answer) == ("expired", None)


@pytest.mark.covers("INBOX-3")
async def test_a_question_whose_asker_has_gone_is_withdrawn(tmp_path: Path) -> None:
    place = str(tmp_path / "inbox.db")
    ask = (
        "import anyio, sys\nfrom ui_mcp.inbox.service import opened\n"
        "async def main():\n  async with opened(sys.argv[1]) as inbox:\n"
        "    await inbox.ask(inbox.new('permission','t',{},source='s',agent='a',lifetime=600,held=True))\n"
        "anyio.run(main)"
    )
    await anyio.to_thread.run_sync(lambda: subprocess.run([sys.executable, "-c", ask, place], check=True, timeout=60))
    async with opened(place) as inbox:
        own = await inbox.ask(permission(inbox, held=True))
        waiting, (gone,) = await inbox.pending(), await inbox.history()
        with pytest.raises(AlreadyDecidedError, match="Nobody is waiting"):
            await inbox.answer(gone.id, ALLOW)

    assert (waiting, gone.status) == ([own], "withdrawn")


def test_a_process_on_another_machine_is_believed_to_run() -> None:
    assert holder_runs("1:elsewhere")
    assert holder_runs("")
    assert holder_runs(f"{os.getpid()}:{gethostname()}")
    assert not holder_runs(f"4194305:{gethostname()}")


@pytest.mark.covers("INBOX-5")
@pytest.mark.parametrize(
    ("field", "value", "kept"),
    [
        (COLOUR, "red", "red"),
        (Field("1", "Which?", "choice", COLOUR.options, other=True), "green", "green"),
        (Field("1", "Which?", "choices", COLOUR.options), ["red", "blue"], ["red", "blue"]),
        (Field("1", "How many?", "integer"), 7.0, 7),
        (Field("1", "How much?", "number"), 1.5, 1.5),
        (Field("1", "Really?", "yes_no"), False, False),
        (Field("1", "What?"), "a boat", "a boat"),
    ],
)
async def test_a_form_keeps_what_fits(field: Field, value: object, kept: object, tmp_path: Path) -> None:
    async with opened(str(tmp_path / "inbox.db")) as inbox:
        asked = await inbox.ask(form(inbox, field))
        settled = await inbox.answer(asked.id, Reply("answer", "human", {"1": value, "unasked": 1}))

    assert (settled.answer or {})["values"] == {"1": kept}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (COLOUR, "green"),
        (COLOUR, None),
        (COLOUR, ["red"]),
        (Field("1", "Which?", "choices", COLOUR.options), ["green"]),
        (Field("1", "How many?", "integer"), 7.5),
        (Field("1", "How many?", "integer"), True),
        (Field("1", "How much?", "number"), float("inf")),
        (Field("1", "Really?", "yes_no"), "yes"),
        (Field("1", "What?"), {"a": 1}),
        (Field("1", "Which file?", "file"), {"name": "a", "data": "?"}),
        (Field("1", "Which file?", "file"), "/etc/passwd"),
    ],
)
async def test_a_form_refuses_what_does_not_fit_and_stays_open(field: Field, value: object, tmp_path: Path) -> None:
    async with opened(str(tmp_path / "inbox.db"), tmp_path) as inbox:
        asked = await inbox.ask(form(inbox, field))
        with pytest.raises(InvalidArgumentsError):
            await inbox.answer(asked.id, Reply("answer", "human", {"1": value}))
        with pytest.raises(InvalidArgumentsError):
            await inbox.answer(asked.id, ALLOW)
        left = await inbox.pending()

    assert left == [asked]


@pytest.mark.covers("INBOX-5")
async def test_a_file_is_kept_under_a_harmless_name(tmp_path: Path) -> None:
    given = {"name": "../../.ssh/.boat plan;.txt", "data": b64encode(b"boat").decode()}
    async with opened(str(tmp_path / "inbox.db"), tmp_path / "answers") as inbox:
        asked = await inbox.ask(form(inbox, Field("1", "Which plan?", "file")))
        settled = await inbox.answer(asked.id, Reply("answer", "human", {"1": given}))
    file = Path((settled.answer or {})["values"]["1"])

    assert file.name == "boat plan_.txt"
    assert file.is_relative_to(tmp_path / "answers" / asked.id)
    assert (file.read_bytes(), file.stat().st_mode & 0o777) == (b"boat", 0o600)


async def test_what_is_not_there_is_not_created_by_looking(tmp_path: Path) -> None:
    missing = tmp_path / "inbox.db"
    async with inbox_opener(lambda: str(missing))() as nothing, inbox_opener(lambda: None)() as nowhere:
        assert (nothing, nowhere, missing.exists()) == (None, None, False)
    async with opened(str(missing)) as inbox:
        with pytest.raises(NotFoundError):
            await inbox.get("unknown")
