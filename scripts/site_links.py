"""mkdocs hook: links to files outside docs/ become plain text, because the site contains only docs/."""

import re

OUTSIDE = re.compile(
    r"\[([^\]]+)\]\((?:\.\./)+(?:contracts|ARCHITECTURE|CONTRIBUTING|CHANGELOG|README|SECURITY|src|examples)[^)]*\)"
)


def on_page_markdown(markdown: str, **_: object) -> str:
    """Replace such links by their text."""
    return OUTSIDE.sub(r"\1", markdown)
