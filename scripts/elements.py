"""Collects the contracts of the elements: for the server (`ui/elements.json`) and as the guide `ui://components`.

`scripts/records.py` writes what `generated` returns.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "web" / "src" / "elements"
COLLECTED = ROOT / "src" / "ui_mcp" / "ui" / "elements.json"
GUIDE = ROOT / "src" / "ui_mcp" / "bundle" / "base" / "resources" / "components.md"
HEAD = """# Components

Elements for your viewdefs beyond HTML and Shoelace. Each is bound like any other element (`ui-value`, `ui-event-NAME`),
loads when it is first shown, works by keyboard and screen reader, and follows the theme. Copy an example and change it.
`_` in `ui-event-NAME="method(_)"` is what the event is about. Every element also takes `class`, `style`, `id`, `hidden`
and all `ui-*` attributes.
"""


def contracts() -> dict[str, dict[str, Any]]:
    """Return every contract by its tag."""
    found = [whole(json.loads(file.read_text("utf-8"))) for file in sorted(SOURCE.glob("*/contract.json"))]
    return {one["tag"]: one for one in sorted(found, key=lambda one: (one.get("order", 99), one["tag"]))}


def whole(contract: dict[str, Any]) -> dict[str, Any]:
    """Add what all form fields take to the contract of one."""
    if not contract.pop("field", False):
        return contract
    shared = json.loads((SOURCE / "field.json").read_text("utf-8"))
    return contract | {"attributes": contract["attributes"] | shared}


def guide(found: dict[str, dict[str, Any]]) -> str:
    """Return the catalogue as Markdown."""
    rows = [f"| [`{tag}`](#{tag}) | {one['summary'].split('. ')[0].rstrip('.')} |" for tag, one in found.items()]
    index = "\n".join(["| element | what it is |", "|---|---|", *rows])
    return "\n".join([HEAD, index, *("\n".join(section(tag, one)) for tag, one in found.items())]) + "\n"


def section(tag: str, one: dict[str, Any]) -> Iterator[str]:
    yield f"\n## {tag}\n\n{one['summary']}\n"
    yield "```html\n" + "\n".join(one["example"]["html"]) + "\n```\n"
    if one["example"].get("lua"):
        yield "```lua\n" + "\n".join(one["example"]["lua"]) + "\n```\n"
    if one.get("value"):
        yield f"`ui-value`: {one['value']}\n"
    if one.get("lua"):
        yield f"Lua: {one['lua']}\n"
    yield from table("attribute", one["attributes"])
    for child, about in one.get("children", {}).items():
        yield f"Inside: `<{child}>`. {about['summary']}\n"
        yield from table("attribute", about["attributes"])
    yield from table("event", one.get("events", {}))
    if one.get("keys"):
        yield f"Keys: {one['keys']}\n"


def table(what: str, entries: dict[str, str]) -> Iterator[str]:
    if entries:
        rows = [f"| `{name}` | {text.replace('|', chr(92) + '|')} |" for name, text in entries.items()]
        yield "\n".join([f"| {what} | meaning |", "|---|---|", *rows]) + "\n"


def generated() -> dict[Path, str]:
    """Return what the contracts say, by the file that holds it."""
    found = contracts()
    return {COLLECTED: json.dumps(found, indent=1, ensure_ascii=False) + "\n", GUIDE: guide(found)}
