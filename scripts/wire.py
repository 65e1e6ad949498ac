"""Generates the protocol constants of every language and the tables of contracts/wire.md from contracts/wire.json."""

import json
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
CONTRACT = ROOT / "contracts" / "wire.json"
PYTHON = ROOT / "src" / "ui_mcp" / "wire.py"
LUA = ROOT / "src" / "ui_mcp" / "lua_runtime" / "engine" / "wire.lua"
MARKDOWN = ROOT / "contracts" / "wire.md"
TYPESCRIPT = ROOT / "web" / "src" / "wire.gen.ts"
ABOUT = "Constants of the wire between page, server and Lua. Written by scripts/wire.py from contracts/wire.json."

Entry = dict[str, Any]
Wire = dict[str, list[Entry]]


class Section(NamedTuple):
    """A list of named strings in the contract, and what it becomes."""

    name: str
    key: str
    python: str
    about: str
    lua: str


SECTIONS = (
    Section("operations", "op", "Op", "What a Lua worker can be asked to do.", "op"),
    Section("outputs", "kind", "OutputKind", "What a Lua worker sends besides its replies.", "output"),
    Section("messages", "type", "MessageType", "Types of the messages between page and server.", "message"),
    Section("properties", "property", "Property", "Properties that the server or the engine acts on.", "property"),
    Section("faults", "code", "FaultCode", "Why an operation or a message failed.", "fault"),
)


def generated() -> dict[Path, str]:
    wire = json.loads(CONTRACT.read_text())
    return {PYTHON: _python(wire), LUA: _lua(wire), TYPESCRIPT: _typescript(wire), MARKDOWN: _markdown(wire)}


def _python(wire: Wire) -> str:
    lines = [f'"""{ABOUT}"""', "", "from enum import StrEnum", ""]
    for close in wire["closeCodes"]:
        lines += [f"{close['name']} = {close['code']}", f'"""{_sentence(close["meaning"])}"""']
    lines += ["", f"FINAL = frozenset({{{', '.join(_final(wire))}}})"]
    lines += ['"""After these a page does not reconnect."""', ""]
    lines += [f'{notice["name"]} = "{notice["code"]}"' for notice in wire["notices"]]
    for section in SECTIONS:
        lines += ["", "", f"class {section.python}(StrEnum):", f'    """{section.about}"""', ""]
        for entry in wire[section.name]:
            lines += [f'    {entry["name"]} = "{entry[section.key]}"', f'    """{_description(entry)}"""']
    return "\n".join(lines) + "\n"


def _lua(wire: Wire) -> str:
    lines = [
        f"-- {ABOUT}",
        "local E = ...",
        "local setmetatable, error, tostring = setmetatable, error, tostring",
        "",
        "-- A misspelt name raises an error instead of being nil.",
        "local function constants(kind, values)",
        "  return setmetatable(values, {",
        '    __index = function(_, name) error("the wire has no " .. kind .. " " .. tostring(name), 2) end,',
        "  })",
        "end",
        "",
        "E.wire = {",
    ]
    for section in SECTIONS:
        lines += [f'  {section.lua} = constants("{section.lua}", {{']
        lines += [f'    {entry["name"]} = "{entry[section.key]}",' for entry in wire[section.name]]
        lines += ["  }),"]
    return "\n".join([*lines, "}"]) + "\n"


def _typescript(wire: Wire) -> str:
    lines = [f"/** {ABOUT} */", ""]
    for close in wire["closeCodes"]:
        lines += [f"/** {_sentence(close['meaning'])} */", f"export const {close['name']} = {close['code']};"]
    lines += ["", "/** After these a page does not reconnect. */"]
    lines += [f"export const FINAL: ReadonlySet<number> = new Set([{', '.join(_final(wire))}]);", ""]
    lines += [f'export const {notice["name"]} = "{notice["code"]}";' for notice in wire["notices"]]
    for section, key, prefix in (("messages", "type", "MESSAGE"), ("properties", "property", "PROPERTY")):
        lines += ["", *(f'export const {prefix}_{entry["name"]} = "{entry[key]}";' for entry in wire[section])]
    return "\n".join(lines) + "\n"


TABLES = {
    "messages": ("type", "from", "data", "meaning"),
    "faults": ("code", "meaning"),
    "properties": ("property", "meaning"),
    "notices": ("code", "meaning"),
    "closeCodes": ("code", "meaning", "reconnect"),
    "operations": ("op", "arguments", "meaning", "result"),
    "outputs": ("kind", "text", "meaning"),
}
"""The columns of each table in contracts/wire.md; a table stands between comments with its name."""

CODE_COLUMNS = frozenset({"type", "data", "code", "property", "op", "kind", "arguments"})


def _markdown(wire: Wire) -> str:
    text = MARKDOWN.read_text()
    for name, columns in TABLES.items():
        lines = [columns, ["---"] * len(columns), *([_cell(entry, key) for key in columns] for entry in wire[name])]
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        opening, closing = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        before, _, rest = text.partition(opening)
        text = f"{before}{opening}{table}\n{closing}{rest.partition(closing)[2]}"
    return text


def _cell(entry: Entry, column: str) -> str:
    value = entry.get(column, "")
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = ", ".join(value) if isinstance(value, list) else str(value)
    return f"`{text}`" if text and column in CODE_COLUMNS else text


def _final(wire: Wire) -> list[str]:
    return [close["name"] for close in wire["closeCodes"] if not close["reconnect"]]


def _description(entry: Entry) -> str:
    """Return the meaning of an entry, for an operation with its arguments and its result."""
    arguments = f"({', '.join(entry['arguments'])}) " if entry.get("arguments") else ""
    result = f" Result: {entry['result']}." if "result" in entry else ""
    return f"{arguments}{_sentence(entry['meaning'])}{result}"


def _sentence(meaning: str) -> str:
    return f"{meaning[0].upper()}{meaning[1:]}."


if __name__ == "__main__":
    for file, text in generated().items():
        file.write_text(text)
        print(file.relative_to(ROOT))
