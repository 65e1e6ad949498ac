"""Inbox: asks the person, takes one answer per question, and waits for answers, over restarts too."""

import os
import re
import time
from base64 import b64decode
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from socket import gethostname

import anyio
from anyio import to_thread

from ui_mcp.config import Config
from ui_mcp.errors import AlreadyDecidedError, ExpiredError, InvalidArgumentsError, NotFoundError
from ui_mcp.files import PRIVATE, write_atomic
from ui_mcp.inbox.model import ACCEPTING, DECISIONS, Decision, Kind, Question, Status, checked, fields_of
from ui_mcp.inbox.store import QuestionStore, open_questions
from ui_mcp.jsontypes import JsonObject
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.processes import pid_exists
from ui_mcp.storage.database import close_database, file_of
from ui_mcp.workspace import INBOX_FILE, Workspace

POLL_SECONDS = 0.25
MOST = 1000


@dataclass(frozen=True, slots=True)
class Reply:
    """What the person said to a question."""

    decision: Decision
    by: str
    values: JsonObject | None = None
    reason: str | None = None


class Inbox:
    """The questions of one store; several processes may share the store."""

    def __init__(self, store: QuestionStore, files: Path | None = None, now: Callable[[], float] = time.time) -> None:
        self._store = store
        self._files = files
        self._now = now

    def new(
        self, kind: Kind, title: str, body: JsonObject, *, source: str, agent: str, lifetime: float, held: bool = False
    ) -> Question:
        """Return a question that is not stored yet; `lifetime` is in seconds.

        One that is `held` is withdrawn when this process ends, because no process waits for its answer then.
        """
        now = self._now()
        lease = f"{os.getpid()}:{gethostname()}" if held else ""
        return Question(token_hex(16), now, now + lifetime, kind, source, agent, title, body, lease=lease)

    async def ask(self, question: Question) -> Question:
        """Store a question; it is durable when this returns."""
        await self._store.add(question)
        return question

    async def get(self, question_id: str) -> Question:
        """Return a question as it stands now.

        Raises:
            NotFoundError: there is no such question.
        """
        found = await self._store.get(question_id)
        if found is None:
            raise NotFoundError(f"No question {question_id}")
        return await self._current(found)

    async def pending(self) -> Sequence[Question]:
        """Return the questions that wait for an answer, oldest first."""
        rows = [await self._current(row) for row in await self._store.rows("pending", MOST)]
        return [row for row in rows if row.status == "pending"]

    async def history(self, limit: int = 100) -> Sequence[Question]:
        """Return the settled questions, newest first."""
        return await self._store.rows("history", limit)

    async def answer(self, question_id: str, reply: Reply) -> Question:
        """Take an answer; the first one counts.

        Raises:
            AlreadyDecidedError: another answer came first, or its asker has gone.
            ExpiredError: it came too late.
            InvalidArgumentsError: it does not fit the question.
            NotFoundError: there is no such question.
        """
        question = await self.get(question_id)
        _require_open(question)
        if reply.decision not in DECISIONS[question.kind]:
            raise InvalidArgumentsError(f"{reply.decision!r} is not an answer to this question")
        said: JsonObject = {"decision": reply.decision, "reason": reply.reason}
        if reply.decision == "answer":
            said["values"] = await self._kept(question, checked(fields_of(question), reply.values or {}))
        status: Status = "answered" if reply.decision in ACCEPTING else "declined"
        settled = replace(question, status=status, answer=said, decided_by=reply.by, decided_at=self._now())
        if not await self._store.settle(settled):
            _require_open(await self.get(question_id))
            raise AlreadyDecidedError("Somebody else answered at the same moment")
        return settled

    async def withdraw(self, question_id: str) -> None:
        """Take a question back whose answer is of no use any more; does nothing once it is settled."""
        question = await self._store.get(question_id)
        if question is not None and question.status == "pending":
            await self._store.settle(replace(question, status="withdrawn", decided_at=self._now()))

    async def has(self, question_id: str) -> bool:
        return await self._store.get(question_id) is not None

    async def settled(self, question_id: str, seconds: float) -> Question:
        """Wait until a question is settled; after `seconds` return it as it is."""
        with anyio.move_on_after(seconds):
            while True:
                question = await self.get(question_id)
                if question.status != "pending":
                    return question
                # Polled: the answer is given in another process, and a file does not announce its changes.
                await anyio.sleep(POLL_SECONDS)
        return await self.get(question_id)

    async def _current(self, row: Question) -> Question:
        """Return a row as it stands now: one past its time has expired, one whose asker died is withdrawn."""
        if row.status != "pending":
            return row
        late = self._now() >= row.expires_at
        if not late and holder_runs(row.lease):
            return row
        settled = replace(row, status="expired" if late else "withdrawn", decided_at=self._now())
        if await self._store.settle(settled):
            return settled
        return await self._store.get(row.id) or settled

    async def _kept(self, question: Question, values: JsonObject) -> JsonObject:
        """Write the files of an answer, and return it with their paths."""
        names = [one.name for one in fields_of(question) if one.kind == "file" and one.name in values]
        if not names:
            return values
        if self._files is None:
            raise InvalidArgumentsError("This server has no place for files")
        place = self._files / question.id
        paths = {name: await to_thread.run_sync(_written, place, name, values[name]) for name in names}
        return {**values, **paths}


def _written(folder: Path, field: str, given: JsonObject) -> str:
    # The name comes from a browser: only its last part counts, and nothing that a shell or a path could mean.
    name = re.sub(r"[^\w.\- ]", "_", Path(given["name"].replace("\\", "/")).name).lstrip(".")[:100] or "file"
    # A folder per attempt: of two answers at once, the later one must not replace the file of the one that counts.
    place = folder / f"{re.sub(r'[^0-9A-Za-z]', '_', field)[:40]}-{token_hex(4)}"
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_atomic(place / name, b64decode(given["data"]), mode=PRIVATE)
    return str(place / name)


def holder_runs(lease: str) -> bool:
    """Return whether the process that waits for an answer may still run; without a lease none needs to."""
    pid, _, host = lease.partition(":")
    if not pid.isdigit() or host != gethostname():
        return True  # on another host, where this cannot be checked
    return pid_exists(int(pid))


def _require_open(question: Question) -> None:
    match question.status:
        case "expired":
            raise ExpiredError("The time for an answer is over; nothing was allowed")
        case "withdrawn":
            raise AlreadyDecidedError("Nobody is waiting for this answer any more: the question was withdrawn")
        case "answered" | "declined":
            raise AlreadyDecidedError(
                f"Already {question.status} by {question.decided_by}", by=question.decided_by, at=question.decided_at
            )
        case "pending":
            return


def inbox_url(config: Config, workspace: Workspace) -> str:
    """Return where the questions of a directory are: in its PostgreSQL database, else in a file of their own."""
    url = config.storage.url
    return url if url and file_of(url) is None else str(workspace.state_dir / INBOX_FILE)


def answer_files(workspace: Workspace) -> Path:
    """Return the folder for files that the person gives as answers."""
    return workspace.state_dir / "answers"


OpenInbox = Callable[[], AbstractAsyncContextManager[Inbox | None]]
"""Opens an inbox for the length of a block; None when there is none yet."""


@asynccontextmanager
async def opened(place: str, files: Path | None = None) -> AsyncIterator[Inbox]:
    """Open the inbox at a path or URL for the length of the block, and create it when missing."""
    store = await to_thread.run_sync(open_questions, place)  # connecting to a remote database blocks
    try:
        yield Inbox(store, files)
    finally:
        await close_database(store)


def inbox_opener(place: Callable[[], str | None], files: Callable[[], Path | None] = lambda: None) -> OpenInbox:
    """Return a function that opens an inbox for one request; a missing file is not created."""

    @asynccontextmanager
    async def for_request() -> AsyncIterator[Inbox | None]:
        where = place()
        if where is None or ((file := file_of(where)) is not None and not file.is_file()):
            yield None
            return
        async with opened(where, files()) as inbox:
            yield inbox

    return for_request
