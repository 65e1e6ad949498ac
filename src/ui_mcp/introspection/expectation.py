"""What a scenario expects of a UI."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from ui_mcp.fields import Before, Limit
from ui_mcp.introspection.arguments import Request, Selector
from ui_mcp.introspection.selectors import is_visible, parts_of, texts_of
from ui_mcp.introspection.tree import Node
from ui_mcp.jsontypes import Json


def _as_selector(value: Json) -> Json:
    return {"text": value} if isinstance(value, str) else value


AnySelector = Annotated[Selector, Before(_as_selector)]


@dataclass(frozen=True, slots=True)
class Expectation(Request):
    """What must be there, within a few seconds."""

    selector: Annotated[AnySelector, "css, text and predicate, or a bare text."]
    text: Annotated[str | None, "Text that one of the matches must contain."] = None
    count: Annotated[int | None, "How many matches there must be; 0 = none. Default: at least one.", Limit(ge=0)] = None

    def holds(self, found: Sequence[Node]) -> bool:
        """Return whether these matches are what was expected; what is hidden does not count."""
        found = [node for node in found if is_visible(node)]
        if self.text is not None:
            wanted = self.text.casefold()
            found = [node for node in found if any(wanted in text.casefold() for text in _all_texts(node))]
        return bool(found) if self.count is None else len(found) == self.count


def _all_texts(node: Node) -> list[str]:
    return [text for part in (node, *parts_of(node)) for text in texts_of(part)]
