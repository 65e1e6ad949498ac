"""Writes docs/settings.md from the settings themselves; run it after changing `src/ui_mcp/config.py`."""

import sys
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel

from ui_mcp.config import ENVIRONMENT, Config
from ui_mcp.trust import WIDENING

PAGE = Path(__file__).parents[1] / "docs" / "settings.md"
INTRODUCTION = """\
# Settings

`config/config.toml` in the base directory. A flag wins over an environment variable, that over the file, that over the
default. `UI_DIR` or `--dir` chooses the base directory itself. Written by `scripts/settings.py`.

Settings of the file that widen rights have no effect until the person agreed to them with `ui-mcp trust`:
{widening}.
Flags and variables need no agreement. `ui-mcp doctor` and `ui_status` name what is not in effect.

The account's own file, `{account}` in its configuration directory (`~/.config/ui-mcp` on Linux), has one setting:
`directories`, a list of directories that `ui_configure` may switch to besides those of the project.
"""


def page() -> str:
    """Return the text of the page."""
    widening = ", ".join(f"`{key}`" for key in sorted(WIDENING))
    return "\n".join([INTRODUCTION.format(widening=widening, account="config.toml"), *_tables(Config, "")])


def _tables(model: type[BaseModel], prefix: str) -> Iterator[str]:
    rows = []
    for name, field in model.model_fields.items():
        key, kind = f"{prefix}{name}", field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from _tables(kind, f"{key}.")
        else:
            rows.append(_row(key, name, field.default, field.description or ""))
    if rows:
        yield f"## [{prefix.rstrip('.')}]\n\n| key | default | environment | meaning |\n|---|---|---|---|"
        yield from rows
        yield ""


def _row(key: str, name: str, default: object, meaning: str) -> str:
    variable = next((f"`{variable}`" for variable, named in ENVIRONMENT.items() if named == key), "")
    return f"| `{name}` | {_toml(default)} | {variable} | {meaning.replace('|', chr(92) + '|')} |"


def _toml(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return f"`{str(value).lower()}`"
        case tuple():
            return f"`[{', '.join(repr(item).replace(chr(39), chr(34)) for item in value)}]`"
        case str():
            return f'`"{value}"`'
        case float() if value.is_integer():
            return f"`{int(value)}`"
        case _:
            return f"`{value}`"


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE.name} written\n")
