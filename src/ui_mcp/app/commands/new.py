"""The command `ui-mcp new`."""

import argparse

from ui_mcp.ui.console.scaffold import scaffold
from ui_mcp.workspace import Workspace


def run_new(options: argparse.Namespace) -> int:
    """Write the app and print the next steps."""
    workspace = Workspace.at(options.dir)
    made = scaffold(workspace, options.app, options.title)
    print("Created:", *(workspace.name_of(file) for file in made), sep="\n  ")
    print(f"\nTo see it, ask your agent to show {options.app}, or run `ui-mcp serve` and choose it on the start page.")
    print("Edit a file while it is shown and watch the page change.")
    return 0
