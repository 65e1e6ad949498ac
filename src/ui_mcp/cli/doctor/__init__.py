"""Report what is installed, what is missing and how to fix it.

It checks this machine and the project in --dir and changes nothing. The exit code is 0 if everything needed works,
and 1 otherwise.
"""

import argparse
from typing import TYPE_CHECKING

from ui_mcp.cli import options as shared
from ui_mcp.cli.doctor.findings import Finding, Health
from ui_mcp.discovery import lazy
from ui_mcp.jsontypes import dumps
from ui_mcp.processes import run as run_async
from ui_mcp.terminal_style import style_of
from ui_mcp.workspace import Workspace

if TYPE_CHECKING:
    from ui_mcp.cli.doctor.machine import findings as machine_findings
    from ui_mcp.cli.doctor.project import findings as project_findings
else:
    machine_findings = lazy("ui_mcp.cli.doctor.machine:findings")
    project_findings = lazy("ui_mcp.cli.doctor.project:findings")

HELP = "report what is installed, what is missing and how to fix it"
SIGNS = {"ok": "ok     ", "note": "note   ", "problem": "PROBLEM"}
COLOURS = {"ok": "green", "note": "yellow", "problem": "red"}


def arguments(parser: argparse.ArgumentParser) -> None:
    shared.directory(parser)
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")


def run(options: argparse.Namespace) -> int:
    found: list[Finding] = []

    async def look() -> int:
        found.extend(await examine(options.dir))
        return int(any(finding.health is Health.PROBLEM for finding in found))

    code = run_async(look)
    if options.json:
        print(dumps({"ok": code == 0, "findings": [finding.json() for finding in found]}))
        return code
    width, style = max(len(finding.name) for finding in found), style_of()
    for finding in found:
        print(f"{style.paint(SIGNS[finding.health], COLOURS[finding.health])}  {finding.name:{width}}  {finding.text}")
        if finding.fix:
            print(f"{'':{width + 11}}→ {finding.fix}")
    counts = [sum(finding.health is health for finding in found) for health in (Health.PROBLEM, Health.NOTE)]
    print(f"\n{_many(counts[0], 'problem')}, {_many(counts[1], 'note')}.")
    return code


def _many(count: int, word: str) -> str:
    return f"{count or 'no'} {word}{'' if count == 1 else 's'}"


async def examine(base_dir: str) -> list[Finding]:
    """Return the findings of all checks, the machine's first."""
    workspace = Workspace.at(base_dir)
    return [*await machine_findings(), *await project_findings(workspace)]
