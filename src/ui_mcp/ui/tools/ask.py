"""`ui_ask`: ask the person, who answers on their own page."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated

from ui_mcp.errors import NotFoundError
from ui_mcp.inbox.model import ASKED, Asked, Question, answer_json
from ui_mcp.inbox.service import Inbox, answer_files, inbox_url, opened
from ui_mcp.inbox.words import display_name, shortened
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.functions import tool
from ui_mcp.toolkit.tool import Annotations, Call
from ui_mcp.ui.server import UiServer

LIFETIME = 7 * 24 * 3600.0
LONGEST = 120.0
LISTED = 20


@dataclass(frozen=True, slots=True)
class AskArgs:
    """What to ask, or which question to look at."""

    questions: list[Asked] | None = None
    wait: Annotated[float, "Seconds."] = 50
    id: str | None = None


@tool("ui_ask", AskArgs, title="Ask the person", annotations=Annotations(destructive=False))
async def ask(host: UiServer, args: AskArgs, call: Call) -> JsonObject:
    """Ask the person for text, choices or files, in their inbox.

    While pending, continue: the event question_answered, or a call with the id, brings answers.
    Example: {"questions": [{"text": "Colour?", "choices": ["red", "blue"]}]}
    """
    configured = host.configured()
    until = time.time() + min(args.wait, LONGEST)
    async with opened(inbox_url(configured.config, configured.workspace), answer_files(configured.workspace)) as inbox:
        if call.task is not None and call.task.resumed is not None:
            return await _resumed(inbox, call.task.resumed)
        if args.questions:
            question = _question(inbox, args.questions, display_name(call.caller_name))
            await _checkpoint(call, question, until)
            await inbox.ask(question)
            return await _answer(inbox, question.id, until)
        if args.id is not None:
            question = _own(await inbox.get(args.id))
            await _checkpoint(call, question, until)
            return await _answer(inbox, question.id, until)
        rows = [*await inbox.pending(), *await inbox.history(LISTED)]
        return {"questions": [{**answer_json(row), "title": row.title} for row in rows if row.source == ASKED]}


async def _answer(inbox: Inbox, question_id: str, until: float) -> JsonObject:
    return answer_json(await inbox.settled(question_id, max(until - time.time(), 0)))


async def _checkpoint(call: Call, question: Question, until: float) -> None:
    # Before the question is stored: of two moments at which a kill may come, this one loses and doubles nothing.
    if call.task is not None:
        await call.task.checkpoint({"question": asdict(question), "until": until})


async def _resumed(inbox: Inbox, checkpoint: JsonObject) -> JsonObject:
    """Wait on for the question of a process that has ended, and ask it if that process did not get so far."""
    question = Question(**checkpoint["question"])
    if not await inbox.has(question.id):
        await inbox.ask(question)
    return await _answer(inbox, question.id, checkpoint["until"])


def _question(inbox: Inbox, asked: Sequence[Asked], agent: str) -> Question:
    fields = [one.field(number).to_json() for number, one in enumerate(asked, 1)]
    title = f"{agent} asks: {shortened(asked[0].text)}" if len(fields) == 1 else f"{agent} has {len(fields)} questions"
    return inbox.new("form", title, {"fields": fields}, source=ASKED, agent=agent, lifetime=LIFETIME)


def _own(question: Question) -> Question:
    """Return a question of this tool.

    Raises:
        NotFoundError: it is another one, which is none of this agent's business.
    """
    if question.source != ASKED:
        raise NotFoundError(f"No question {question.id}")
    return question
