"""Print the version."""

import argparse

from ui_mcp.version import bundled_version

HELP = "print the version"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add nothing."""


def run(options: argparse.Namespace) -> int:
    """Print `ui-mcp vX.Y.Z`."""
    version = bundled_version()
    print(f"ui-mcp {version}" if version == "dev" else f"ui-mcp v{version}")
    return 0
