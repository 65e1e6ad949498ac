"""The mail program, also where the task is worded in many ways."""

import re

from miniwob_tasks.hands import Ui, click, fill
from miniwob_tasks.oracles import solves
from miniwob_tasks.outline import Line, Page


@solves(
    "email-inbox", "email-inbox-delete", "email-inbox-forward", "email-inbox-important", "email-inbox-noscroll",
    "email-inbox-reply", "email-inbox-star-reply", "email-inbox-forward-nl", "email-inbox-forward-nl-turk",
    "email-inbox-nl-turk",
)  # fmt: skip
def handle_mail(ui: Ui) -> None:
    page = ui.look()
    goal = page.goal
    senders = [line for line in page.all("div", inside="main") if " " not in line.text and line.text in _names(page)]
    sender = _sender(goal, [line.text for line in senders])
    line = next(line for line in senders if line.text == sender)
    if re.search(r"delete|trash|get rid|remove|throw", goal, re.IGNORECASE):
        ui.do(click(_after(page, line, "delete")))
    elif re.search(r"\bstar|important|\bmark", goal, re.IGNORECASE):
        ui.do(click(_after(page, line, "star")))
    elif re.search(r"repl|respond|answer|text him", goal, re.IGNORECASE) or _quoted(goal):
        opened = ui.do(click(line), see="diff")
        form = ui.do(click(next(found for found in opened.lines if found.text == "Reply")), see="diff")
        ui.do(fill(_field(form, "textarea"), _quoted(goal)), click(form.id("send-reply")))
    else:
        receiver = _receiver(goal, sender, [line.text for line in senders])
        opened = ui.do(click(line), see="diff")
        form = ui.do(click(next(found for found in opened.lines if found.text == "Forward")), see="diff")
        ui.do(fill(_field(form, "input"), receiver), click(form.id("send-forward")))


def _names(page: Page) -> set[str]:
    """Return the senders: the first of the three lines of each message."""
    texts = [line.text for line in page.all("div", inside="main") if line.text]
    return set(texts[::3])


def _sender(goal: str, senders: list[str]) -> str:
    """Return whose message the task is about."""
    named = [name for name in senders if re.search(rf"\b{name}(?:s|'s)?\b", goal)]
    patterns = (r"(?:from|by) {}\b", r"\b{}'?s\b", r"\b{} sent\b")
    certain = [name for name in named for pattern in patterns if re.search(pattern.format(name), goal)]
    return (certain or named)[0]


def _receiver(goal: str, sender: str, senders: list[str]) -> str:
    """Return to whom a message is to be forwarded."""
    names = [name for name in senders if name != sender and re.search(rf"\b{name}\b", goal)]
    return (names or re.findall(r"to (\w+)\.?", goal)[-1:])[0]


def _quoted(goal: str) -> str:
    found = re.findall(r'"(.*)"', goal) or re.findall(r"(?:with the text|saying|with|text) (.*?)\.?$", goal)
    return found[0] if found else ""


def _after(page: Page, line: Line, icon: str) -> Line:
    lines = page.all(inside="main")
    at = next(at for at, found in enumerate(lines) if found.uid == line.uid)
    return next(found for found in lines[at:] if found.text == icon)


def _field(page: Page, kind: str) -> Line:
    return next(line for line in page.lines if line.kind == kind)
