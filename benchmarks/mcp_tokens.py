"""Tokens (o200k_base) of the tool list with instructions, as models load it; limits are 3,500 (core) and 6,000.

Counted by npm's gpt-tokenizer, which carries the vocabulary and is fetched into build/ on the first run.
"""

import json
import subprocess
import sys
from pathlib import Path

from claims import claim

from ui_mcp.ui.mcp import INSTRUCTIONS
from ui_mcp.ui.tool_groups import CORE
from ui_mcp.ui.toolset import recorded_tools

TOKENIZER, VERSION = Path(__file__).parents[1] / "build" / "tokenizer", "4.0.0"
COUNT = """
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { readFileSync } from "node:fs";
console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map((text) => encode(text).length)));
"""


def counted(texts: list[str]) -> list[int]:
    """Return the number of tokens of each text."""
    if not (TOKENIZER / "node_modules").is_dir():
        TOKENIZER.mkdir(parents=True, exist_ok=True)
        npm = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(TOKENIZER), f"gpt-tokenizer@{VERSION}"]
        subprocess.run(npm, check=True, capture_output=True)
    (TOKENIZER / "count.mjs").write_text(COUNT)
    done = subprocess.run(
        ["node", "count.mjs"], cwd=TOKENIZER, input=json.dumps(texts), check=True, capture_output=True, text=True
    )
    numbers: list[int] = json.loads(done.stdout)
    return numbers


def main() -> int:
    tools = [tool for tool in recorded_tools() or () if not tool.app_only]
    shown = [{"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema} for tool in tools]
    texts = [json.dumps(one, separators=(",", ":"), ensure_ascii=False) for one in shown]
    *each, instructions = counted([*texts, INSTRUCTIONS])
    for tool, tokens in sorted(zip(tools, each, strict=True), key=lambda pair: -pair[1]):
        print(f"{tokens:6} {tool.name}{'' if tool.name in CORE else ' (by group)'}")
    print(f"{instructions:6} instructions")
    core = sum(tokens for tool, tokens in zip(tools, each, strict=True) if tool.name in CORE)
    held = [
        claim("tokens of the core list with instructions", core + instructions, at_most=3500),
        claim("tokens of the whole list with instructions", sum(each) + instructions, at_most=6000),
    ]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
