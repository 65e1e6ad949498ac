"""Generates the protocol constants for Python and TypeScript; run it after changing contracts/wire.json."""

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
CONTRACT = ROOT / "contracts" / "wire.json"
PYTHON = ROOT / "src" / "ui_mcp" / "wire.py"
TYPESCRIPT = ROOT / "web" / "src" / "wire.gen.ts"
ABOUT = "Close codes and notices of a page's connection. Written by scripts/wire.py from contracts/wire.json."


def generated() -> dict[Path, str]:
    wire = json.loads(CONTRACT.read_text())
    return {PYTHON: _python(wire), TYPESCRIPT: _typescript(wire)}


def _python(wire: dict[str, Any]) -> str:
    lines = [
        '"""Close codes and notices of a page\'s connection. Written by scripts/wire.py from contracts/wire.json."""',
        "",
    ]
    for close in wire["closeCodes"]:
        lines += [f"{close['name']} = {close['code']}", f'"""{_sentence(close["meaning"])}"""']
    staying = [close["name"] for close in wire["closeCodes"] if not close["reconnect"]]
    lines += ["", f"FINAL = frozenset({{{', '.join(staying)}}})", '"""After these a page does not reconnect."""', ""]
    lines += [f'{notice["name"]} = "{notice["code"]}"' for notice in wire["notices"]]
    return "\n".join(lines) + "\n"


def _typescript(wire: dict[str, Any]) -> str:
    lines = [
        "/** Close codes and notices of a page's connection. Written by scripts/wire.py from contracts/wire.json. */",
        "",
    ]
    for close in wire["closeCodes"]:
        lines += [f"/** {_sentence(close['meaning'])} */", f"export const {close['name']} = {close['code']};"]
    staying = [close["name"] for close in wire["closeCodes"] if not close["reconnect"]]
    lines += ["", "/** After these a page does not reconnect. */"]
    lines += [f"export const FINAL: ReadonlySet<number> = new Set([{', '.join(staying)}]);", ""]
    lines += [f'export const {notice["name"]} = "{notice["code"]}";' for notice in wire["notices"]]
    return "\n".join(lines) + "\n"


def _sentence(meaning: str) -> str:
    return f"{meaning[0].upper()}{meaning[1:]}."


if __name__ == "__main__":
    for file, text in generated().items():
        file.write_text(text)
        print(file.relative_to(ROOT))
