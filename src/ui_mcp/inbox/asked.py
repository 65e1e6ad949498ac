"""Questions of `ui_ask`: the form that the person sees, and the answers as the agent gets them."""

from ui_mcp.inbox.model import Field, FieldKind, Option, Question
from ui_mcp.jsontypes import JsonObject
from ui_mcp.lazy_dataclass import dataclass

SOURCE = "ui_ask"


@dataclass(frozen=True, slots=True)
class Asked:
    """One question."""

    text: str
    choices: list[str] | None = None
    multiple: bool = False
    file: bool = False

    def field(self, number: int) -> Field:
        """Return the part of the form that asks this."""
        options = tuple(Option(one, one) for one in self.choices or ())
        kind: FieldKind = "file" if self.file else "text"
        if options:
            kind = "choices" if self.multiple else "choice"
        # A person whose answer is missing from the choices would otherwise have to pick a wrong one.
        return Field(str(number), self.text, kind, options, other=bool(options))


def answer_json(question: Question) -> JsonObject:
    """Return a question as the agent sees it; answers stand in the order of the questions."""
    shown: JsonObject = {"id": question.id, "status": question.status}
    said = question.answer or {}
    if question.status == "answered":
        values: JsonObject = said.get("values", {})
        shown["answers"] = [values.get(one["name"]) for one in question.body["fields"]]
    if reason := said.get("reason"):
        shown["reason"] = reason
    return shown
