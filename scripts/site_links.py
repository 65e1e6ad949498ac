"""For the docs site: links to files outside docs/ become plain text, since the site is only what is in docs/."""

import re

OUTSIDE = re.compile(
    r"\[([^\]]+)\]\((?:\.\./)+(?:contracts|ARCHITECTURE|CONTRIBUTING|CHANGELOG|README|SECURITY|src|examples)[^)]*\)"
)


def on_page_markdown(markdown: str, **_: object) -> str:
    """Keep the words of such a link, drop its address."""
    return OUTSIDE.sub(r"\1", markdown)
