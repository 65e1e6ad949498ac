"""Generates docs/reference/ and docs/gallery.md from the code.

Tools and resources are as a client sees them; then every error with its code, the guides that agents read, with
pictures of the elements, and the example apps as their READMEs describe them.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio

from ui_mcp import errors
from ui_mcp.app.commands.demo import BEST_FIRST
from ui_mcp.chat.identity import ROLES, AccessTokens
from ui_mcp.chat.service import open_store
from ui_mcp.workspace import BUNDLE, CHAT_FILE, DEFAULT_DIR

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "reference"
GALLERY = ROOT / "docs" / "gallery.md"
SERVERS = {
    "`ui-mcp mcp`, `ui-mcp serve`": ["ui_mcp", "mcp"],
    "`ui-mcp chat --face human`": ["ui_mcp", "chat", "--face", "human"],
}
NOTE = "Generated from the code by `scripts/reference.py`; `make docs` updates it.\n"
GUIDES = {
    "attributes.md": "viewdefs.md",
    "components.md": "components.md",
    "cookbook.md": "cookbook.md",
    "lua.md": "lua.md",
}
SHOWN = """\
# Gallery

Example apps that come with ui-mcp. `ui-mcp demo NAME` opens one in a temporary directory, where you can edit it and
watch the page change; `ui-mcp demo` without a name is a tour. Each is a few files of Lua and HTML, written with nothing
but the [guides](reference/components.md) that your agent has too.

<div class="grid cards" markdown>
"""


def generated() -> dict[Path, str]:
    return {FOLDER / name: text.rstrip() + "\n" for name, text in pages().items()} | {GALLERY: gallery()}


def gallery() -> str:
    """Return the page of the example apps."""
    return "\n".join([SHOWN, *(card(name) for name in BEST_FIRST), "</div>\n"])


def card(name: str) -> str:
    """Return one example: its pictures, its title and the first paragraph of its README."""
    title, about = (ROOT / "examples" / name / "README.md").read_text("utf-8").split("\n\n")[:2]
    pictures = both_themes(f"../examples/{name}/preview", title.removeprefix("# "))
    return f"- {pictures}\n\n    **{title.removeprefix('# ')}** `ui-mcp demo {name}`\n\n    {' '.join(about.split())}\n"


def both_themes(path: str, alternative: str) -> str:
    """Return a picture for each theme; GitHub and the site show the one that fits."""
    return " ".join(f"![{alternative}]({path}-{theme}.webp#gh-{theme}-mode-only)" for theme in ("light", "dark"))


def pictured(guide: str) -> str:
    """Add the picture of each element below its heading."""
    return re.sub(
        r"^## (ui-\w+)\n",
        lambda found: f"{found[0]}\n{both_themes(f'../images/elements/{found[1]}', found[1])}\n",
        guide,
        flags=re.MULTILINE,
    )


def pages() -> dict[str, str]:
    asked = {title: listed(words) for title, words in SERVERS.items()}
    return {
        "tools.md": "\n".join(tools(asked)),
        "resources.md": "\n".join(resources(asked)),
        "errors.md": "\n".join(codes()),
        **{name: pictured((BUNDLE / "base/resources" / guide).read_text("utf-8")) for name, guide in GUIDES.items()},
    }


def listed(words: list[str]) -> dict[str, list[dict[str, Any]]]:
    """Start a server over stdio and return its tools, resources and templates."""
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "docs", "version": "1"}}
    methods = {"tools/list": "tools", "resources/list": "resources", "resources/templates/list": "resourceTemplates"}
    lines = [{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}]
    lines += [{"jsonrpc": "2.0", "id": number, "method": name} for number, name in enumerate(methods, 1)]
    with tempfile.TemporaryDirectory() as folder:
        token = anyio.run(human_token, Path(folder) / DEFAULT_DIR)
        said = subprocess.run(
            [sys.executable, "-m", *words], env={**os.environ, "UI_MCP_TOKEN": token},
            cwd=folder, input="\n".join(map(json.dumps, lines)) + "\n", capture_output=True, text=True, check=True,
        )  # fmt: skip
    answers = {message.get("id"): message for message in map(json.loads, said.stdout.splitlines())}
    return {key: answers[number]["result"][key] for number, key in enumerate(methods.values(), 1)}


async def human_token(base_dir: Path) -> str:
    """Create a human's token, without which the human side of the chat needs a terminal."""
    (base_dir / "storage").mkdir(parents=True)
    async with open_store(f"sqlite:///{base_dir / 'storage' / CHAT_FILE}") as store:
        return await AccessTokens(store).create("docs", ROLES["human"])


def tools(asked: dict[str, dict[str, list[dict[str, Any]]]]) -> Iterator[str]:
    """Yield one section per tool, with its arguments."""
    yield f"# Tools\n\n{NOTE}"
    for title, found in asked.items():
        yield f"## {title}\n"
        for tool in sorted(found["tools"], key=lambda tool: str(tool["name"])):
            yield f"### `{tool['name']}`\n\n{tool['description']}\n"
            yield from _arguments(tool["inputSchema"])


def _arguments(schema: dict[str, Any]) -> Iterator[str]:
    properties = schema.get("properties", {})
    if not properties:
        return
    yield "| argument | type | meaning |\n|---|---|---|"
    for name, value in properties.items():
        needed = " (required)" if name in schema.get("required", ()) else ""
        yield f"| `{name}`{needed} | {_kind(value)} | {_cell(value.get('description', ''))} |"
    yield ""


def _kind(value: dict[str, Any]) -> str:
    if "enum" in value:
        return " or ".join(f"`{one}`" for one in value["enum"])
    if "anyOf" in value:
        return " or ".join(dict.fromkeys(_kind(one) for one in value["anyOf"]))
    kind = value.get("type", "object" if "$ref" in value else "any")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def resources(asked: dict[str, dict[str, list[dict[str, Any]]]]) -> Iterator[str]:
    """Yield one table row per resource."""
    yield f"# Resources\n\n{NOTE}"
    for title, found in asked.items():
        yield f"## {title}\n\n| address | type | what |\n|---|---|---|"
        entries = [*found["resources"], *found["resourceTemplates"]]
        for entry in sorted(entries, key=lambda entry: str(entry.get("uri") or entry["uriTemplate"])):
            address = entry.get("uri") or entry["uriTemplate"]
            yield f"| `{address}` | {entry.get('mimeType', '')} | {_cell(entry.get('description', ''))} |"
        yield ""


def codes() -> Iterator[str]:
    """Yield one table row per error class."""
    yield f"# Errors\n\n{NOTE}"
    yield "The first line of a message is complete by itself; further lines give the reason or a hint.\n"
    yield "| code | error | means |\n|---|---|---|"
    for name, kind in vars(errors).items():
        if isinstance(kind, type) and issubclass(kind, errors.UiMcpError):
            yield f"| `{kind.code}` | {name} | {_cell((kind.__doc__ or '').partition(chr(10))[0])} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for file, text in generated().items():
        file.write_text(text, encoding="utf-8")
