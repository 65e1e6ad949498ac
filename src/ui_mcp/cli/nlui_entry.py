"""Where the `nlui` command begins: stdout is set aside for MCP before anything that could print is imported."""

import sys


def main() -> int:
    """Run `nlui` with the arguments of this process."""
    return run(sys.argv[1:])


def run(words: list[str]) -> int:
    """Run one command line of nlui; exit codes: 2 usage, 3 configuration, 4 unreachable, 1 anything else."""
    from ui_mcp.cli import reserve

    stdio = reserve.stdio() if speaks_on_stdio(words) else None
    from ui_mcp.cli.main import complain, nobody_reads
    from ui_mcp.cli.nlui import run_words
    from ui_mcp.errors import ConfigError, UiMcpError, UpstreamError

    try:
        return run_words(words, stdio)
    except UiMcpError as error:
        complain(error, "nlui")
        return 3 if isinstance(error, ConfigError) else 4 if isinstance(error, UpstreamError) else 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return nobody_reads()


def speaks_on_stdio(words: list[str]) -> bool:
    """Say whether this command line makes stdin and stdout an MCP connection."""
    return "--mcp" in words and not {"-h", "--help", "--version"} & set(words)
