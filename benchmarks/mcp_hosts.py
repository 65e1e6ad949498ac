"""Tokens (o200k_base) that real hosts spend on us in a request to their model.

Each host is set up by `ui-mcp setup` and driven by the scripted model of tests/hosts until it has called a tool.
Counted is what its largest request carries of ours: definitions of tools, instructions, and names of tools that are
loaded on demand. Names of hosts as arguments choose. Figures are kept in mcp_hosts.json and written as a table into
docs/hosts.md.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "scripts")]

from claims import claim  # noqa: E402
from drive_hosts import FOLDER, PACKAGES, install  # noqa: E402
from mcp_tokens import counted  # noqa: E402

from hosts.drivers import DRIVERS, Driver, Place  # noqa: E402
from hosts.model_server import Script, scripted_model  # noqa: E402
from hosts.pinned import node_folder  # noqa: E402
from hosts.running import converse, environment, set_up  # noqa: E402
from hosts.shown_tools import Shown, shown  # noqa: E402
from ui_mcp.app.setup.hosts import BY_NAME  # noqa: E402

KEPT = Path(__file__).with_suffix(".json")
PAGE = ROOT / "docs" / "hosts.md"
BEGIN, END = "<!-- tokens: written by benchmarks/mcp_hosts.py -->\n", "<!-- end of tokens -->\n"
BAR = 6000
Figures = dict[str, Any]


def main() -> int:
    program = Path(sys.executable).parent / "ui-mcp"
    tools, instructions = offered(program)
    found: dict[str, Figures] = {}
    for driver in (one for one in DRIVERS if one.name in (sys.argv[1:] or PACKAGES)):
        install(driver.name)
        best = largest(talk(driver, program), tools, instructions)
        found[driver.name] = {
            "version": version(driver.name),
            "tools": len(best.tools),
            "named": len(best.names),
            "instructions": bool(best.instructions),
            "tokens": sum(counted(best.texts())),
        }
        print(f"{driver.name:12} {found[driver.name]}", flush=True)
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    kept.update(found)
    KEPT.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    write_table(kept)
    tokens = {BY_NAME[name].title: one["tokens"] for name, one in found.items()}
    held = [claim(f"tokens of ours in {title}", count, at_most=BAR) for title, count in tokens.items()]
    return 0 if all(held) else 1


def offered(program: Path) -> tuple[list[str], str]:
    """Return the names of all tools of a server, and its instructions."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "benchmark", "version": "1"}}
    sent = [("initialize", 1, hello), ("notifications/initialized", None, {}), ("tools/list", 2, {})]
    lines = [
        json.dumps({"jsonrpc": "2.0", "method": name, "params": params} | ({"id": number} if number else {}))
        for name, number, params in sent
    ]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [program, "mcp"], cwd=folder, input="\n".join(lines) + "\n", capture_output=True, text=True, check=True
        )
    answers = {one["id"]: one["result"] for one in map(json.loads, done.stdout.splitlines()) if "result" in one}
    return [tool["name"] for tool in answers[2]["tools"]], answers[1]["instructions"]


def talk(driver: Driver, program: Path) -> Script:
    """Let a host call one tool of a server; return what its model was sent."""
    with tempfile.TemporaryDirectory() as folder, scripted_model([("ui_status", {})]) as (address, script):
        home, project = Path(folder) / "home", Path(folder) / "project"
        for made in (home, project):
            made.mkdir()
        place = Place(home, project, address)
        variables = environment(driver, place, FOLDER, [program.parent, node_folder()])
        variables.pop("ENABLE_TOOL_SEARCH", None)  # as people have it
        set_up(driver, place, variables)
        converse(driver, place, variables)
        if driver.gives_up_early and not script.outcomes:
            converse(driver, place, variables)
    return script


def largest(script: Script, tools: Sequence[str], instructions: str) -> Shown:
    """Return what the request with most of ours carries."""
    found = [shown(body, tools, instructions) for body in script.requests]
    return max(found, key=lambda one: sum(map(len, one.texts())))


def version(name: str) -> str:
    file = FOLDER / name / "node_modules" / PACKAGES[name] / "package.json"
    return str(json.loads(file.read_text(encoding="utf-8"))["version"])


def write_table(kept: Figures) -> None:
    """Put the table between its marks in the page about hosts."""
    lines = ["| host | tools sent | tokens | passes our instructions on |", "|---|---:|---:|---|"]
    for name, one in kept.items():
        named = f" and {one['named']} by name" if one["named"] else ""
        passed = "yes" if one["instructions"] else "no"
        lines.append(
            f"| {BY_NAME[name].title} {one['version']} | {one['tools']}{named} | {one['tokens']:,} | {passed} |"
        )
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    tail = rest.partition(END)[2]
    PAGE.write_text(f"{head}{BEGIN}\n" + "\n".join(lines) + f"\n\n{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
