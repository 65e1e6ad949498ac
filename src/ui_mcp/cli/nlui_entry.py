"""Where the `nlui` command begins: stdout is set aside for MCP before anything that could print is imported."""

import sys


def main() -> int:
    """Run `nlui` with the arguments of this process."""
    from ui_mcp.cli import reserve

    words = sys.argv[1:]
    stdio = reserve.stdio() if speaks_on_stdio(words) else None
    from ui_mcp.cli.main import run

    return run(["nlui", *words], stdio)


def speaks_on_stdio(words: list[str]) -> bool:
    """Say whether this command line makes stdin and stdout an MCP connection."""
    return "--mcp" in words and not {"-h", "--help", "--version"} & set(words)
