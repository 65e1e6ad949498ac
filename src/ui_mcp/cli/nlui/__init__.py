"""Use HTTP APIs and MCP servers as tools, from OpenAPI documents and an nlui.yaml.

nlui [CONFIG or URL]              chat with your APIs in the browser, on port 9000 (also: nlui serve)
nlui --mcp [CONFIG or URL]        serve MCP over stdin and stdout
nlui --mcp-sse --mcp-port N       MCP over HTTP+SSE (GET /sse, POST /messages) and at /mcp
nlui --mcp-http --mcp-port N      MCP over streamable HTTP at /mcp
nlui check SPEC|CONFIG|URL        report what was understood of each operation
nlui tools SPEC|CONFIG|URL        print the tools (also: nlui dump)
nlui call TOOL --arg k=v          call one tool
nlui accounts                     print who is signed in where
nlui sign-in NAME                 sign in to a server or an API (--code: on another device)
nlui sign-out NAME                sign out
nlui audit tail|export            print the log of calls
nlui init                         write a commented starter nlui.yaml
nlui trust                        agree to the nlui.yaml in this directory

Without a configuration, nlui runs a demo: a scripted model and the API of a small shop; no key is needed.
Run `nlui COMMAND --help` for more on a command.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ui_mcp.cli.main import ignore_broken_pipe, print_error
from ui_mcp.cli.options import HelpText, port
from ui_mcp.discovery import lazy
from ui_mcp.errors import ConfigError, UiMcpError, UpstreamError
from ui_mcp.version import bundled_version

if TYPE_CHECKING:
    from difflib import get_close_matches

    from ui_mcp.app.gateway_server import run_chat, run_http
    from ui_mcp.app.gateway_stdio import run_stdio
    from ui_mcp.app.hub_options import HubOptions
    from ui_mcp.cli.nlui.inspect import run_command
    from ui_mcp.gateway.config.configuration import GatewayOptions
else:
    get_close_matches = lazy("difflib:get_close_matches")
    run_chat = lazy("ui_mcp.app.gateway_server:run_chat")
    run_http = lazy("ui_mcp.app.gateway_server:run_http")
    HubOptions = lazy("ui_mcp.app.hub_options:HubOptions")
    run_stdio = lazy("ui_mcp.app.gateway_stdio:run_stdio")
    run_command = lazy("ui_mcp.cli.nlui.inspect:run_command")
    GatewayOptions = lazy("ui_mcp.gateway.config.configuration:GatewayOptions")

HELP = "use APIs and MCP servers as tools (same as nlui)"
TAKES_ALL = True
LEVELS = ("warning", "info", "debug")
SOURCE = "SPEC|CONFIG|URL"
SOURCE_HELP = "an OpenAPI document, an nlui.yaml, or the URL of an API (default: the nlui.yaml found here)"
AddParser = Callable[..., argparse.ArgumentParser]
COMMANDS = ("check", "tools", "dump", "call", "accounts", "sign-in", "sign-out", "audit", "init", "trust", "serve")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add everything that can follow `nlui`, for completion only; `run_words` chooses between two parsers."""
    commands = parser.add_subparsers()
    _add_commands(commands.add_parser)
    serve = commands.add_parser("serve", help="chat with your APIs in the browser")
    _add_source(serve)
    for one in (parser, serve):
        _add_serving_options(one)


def run(options: argparse.Namespace) -> int:
    """Run `ui-mcp nlui …` if the console script did not handle it."""
    return run_words(options.words, options.stdio)


def run_words(words: Sequence[str], stdio: tuple[int, int] | None) -> int:
    """Run one command line of nlui; exit codes: 2 usage, 3 configuration, 4 unreachable, 1 anything else."""
    try:
        return _run_words(words, stdio)
    except UiMcpError as error:
        print_error(error, "nlui")
        return 3 if isinstance(error, ConfigError) else 4 if isinstance(error, UpstreamError) else 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return ignore_broken_pipe()


def _run_words(words: Sequence[str], stdio: tuple[int, int] | None) -> int:
    if words and words[0] == "serve":
        words = words[1:]
    elif words and words[0] in COMMANDS:
        return run_command(command_parser().parse_args(list(words)))
    if words and (near := _meant(words[0])):
        print(f"nlui: There is no command {words[0]!r}; did you mean {near!r}?", file=sys.stderr)
        return 2
    options = parser().parse_args(_older_spelling(words))
    if options.version:
        print(f"nlui {bundled_version()}")
        return 0
    return _serve(options, stdio)


def _serve(options: argparse.Namespace, stdio: tuple[int, int] | None) -> int:
    verbosity = options.verbosity or LEVELS.index(options.log_level or LEVELS[0])
    if options.mcp:
        if stdio is None:
            raise RuntimeError("stdin and stdout were not set aside")
        source = options.config or options.source
        return run_stdio(HubOptions(source, options.host, options.policy, options.compact, verbosity), *stdio)
    gateway_options = GatewayOptions(
        source=options.config or options.source,
        host=options.host,
        mode=options.policy,
        compact=options.compact,
        verbosity=verbosity,
    )
    if options.mcp_sse or options.mcp_http:
        return run_http(gateway_options, options.mcp_port)
    return run_chat(gateway_options, options.port)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the serving forms."""
    found = argparse.ArgumentParser("nlui", description=__doc__, formatter_class=HelpText)
    _add_source(found)
    _add_serving_options(found)
    return found


def _add_source(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "source", nargs="?", metavar="CONFIG|URL", help="nlui.yaml, an OpenAPI document, or the URL of an API"
    )


def _add_serving_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", metavar="FILE", help="same as the first argument")
    parser.add_argument("--mcp", action="store_true", help="serve MCP over stdin and stdout")
    parser.add_argument("--mcp-sse", action="store_true", help="serve MCP over HTTP+SSE")
    parser.add_argument("--mcp-http", action="store_true", help="serve MCP over streamable HTTP")
    parser.add_argument("--mcp-port", type=port, metavar="N", help="port of the MCP listener (default 8080; 0 = any)")
    parser.add_argument("--host", metavar="ADDR", help="address to listen on (default 127.0.0.1)")
    parser.add_argument("--port", type=port, metavar="N", help="port of the chat (default 9000; 0 = any)")
    parser.add_argument("--compact", action="store_true", help="list only four tools, which find and call all others")
    parser.add_argument(
        "--policy",
        choices=("host", "guard"),
        help="who asks before calls that change something: the MCP host, or nlui (guard)",
    )
    parser.add_argument("--log-level", choices=LEVELS, help="how much to log to stderr (default warning)")
    parser.add_argument("-v", action="count", dest="verbosity", help="log more to stderr")
    parser.add_argument("--version", action="store_true", help="print the version")


def command_parser() -> argparse.ArgumentParser:
    """Return the parser of the one-shot commands."""
    found = argparse.ArgumentParser("nlui")
    _add_commands(found.add_subparsers(required=True, dest="command").add_parser)
    return found


def _add_commands(add: AddParser) -> None:
    _add_check(add)
    for name in ("tools", "dump"):
        _add_tools(add, name)
    _add_call(add)
    _add_accounts(add)
    _add_audit(add)
    _add_init(add)
    _add_trust(add)


def _add_check(add: AddParser) -> None:
    parser = add(
        "check",
        help="report what was understood of each operation",
        description="Read an OpenAPI document, a URL or a configuration, and report every operation that is not fully "
        "supported. The exit code is 1 if something was skipped or a server does not answer.",
    )
    parser.add_argument("source", nargs="?", metavar=SOURCE, help=SOURCE_HELP)
    parser.add_argument("--json", action="store_true", help="print the whole report as JSON")


def _add_tools(add: AddParser, name: str) -> None:
    parser = add(name, help="print the tools", description="Print every tool.")
    parser.add_argument("source", nargs="?", metavar=SOURCE, help=SOURCE_HELP)
    parser.add_argument(
        "--format",
        choices=("names", "mcp", "openai"),
        default="names",
        help="names (default), mcp (the list as a client gets it) or openai (a function per line)",
    )


def _add_call(add: AddParser) -> None:
    parser = add(
        "call",
        help="call one tool",
        description="Call one tool and print its result; `nlui tools` lists the tools. "
        "The exit code is 5 if the call fails.",
    )
    parser.add_argument("tool", metavar="TOOL", help="for example petstore__getPetById")
    parser.add_argument("--config", dest="source", metavar=SOURCE, help=SOURCE_HELP)
    parser.add_argument("--arg", action="append", default=[], metavar="K=V", help="V is JSON, else text")
    parser.add_argument("--json", metavar="FILE", help="arguments as JSON; - reads stdin")
    parser.add_argument("--dry-run", action="store_true", help="show the request without sending it")


def _add_accounts(add: AddParser) -> None:
    found = add("accounts", help="print who is signed in where", description="Print who is signed in where.")
    sign_in = add(
        "sign-in",
        help="sign in to a server or an API",
        description="Sign in with your browser, or with a code on another device. What you get is kept in the keyring "
        "of your system, else in a private file, and renewed as long as the server allows.",
    )
    sign_out = add(
        "sign-out",
        help="sign out of a server or an API",
        description="Forget a sign-in, and end it at the server if it can.",
    )
    for parser in (sign_in, sign_out):
        parser.add_argument("name", metavar="NAME", help="the server or API, as `nlui accounts` prints it")
    for parser in (found, sign_in, sign_out):
        parser.add_argument("--config", dest="source", metavar="CONFIG", help="the nlui.yaml of the gateway")
    found.add_argument("--json", action="store_true", help="print the list as JSON")
    sign_in.add_argument("--code", action="store_true", help="sign in on another device, by a code")
    sign_in.add_argument("--no-browser", action="store_true", help="only show the address to open")


def _add_audit(add: AddParser) -> None:
    parser = add("audit", help="print the log of calls", description="Print the log of calls.")
    parser.add_argument("action", choices=("tail", "export"), help="the newest lines, or all of them")
    parser.add_argument("source", nargs="?", metavar="CONFIG", help="the nlui.yaml of the gateway")
    parser.add_argument(
        "--since", default="", metavar="TIME", help="a time in ISO 8601, or an age such as 30m, 12h or 7d"
    )
    parser.add_argument("--format", choices=("jsonl", "csv"), default="jsonl", help="output format (default jsonl)")
    parser.add_argument(
        "-n", type=int, default=20, dest="count", metavar="N", help="number of lines for tail (default 20)"
    )


def _add_init(add: AddParser) -> None:
    parser = add(
        "init",
        help="write a starter nlui.yaml",
        description="Write a commented nlui.yaml that only you can read. An existing file is never changed.",
    )
    parser.add_argument("file", nargs="?", metavar="FILE", help="file to write (default nlui.yaml)")


def _add_trust(add: AddParser) -> None:
    parser = add(
        "trust",
        help="agree to the nlui.yaml in this directory",
        description="Show an nlui.yaml and ask whether to use it. A file in the working directory may have come with a "
        "project, so it has no effect until you agree to it, and again after every change. "
        "A file that you name on the command line needs no agreement.",
    )
    parser.add_argument("file", nargs="?", metavar="FILE", help="which file (default nlui.yaml)")
    parser.add_argument("--yes", action="store_true", help="agree without being asked; still needs a terminal")
    parser.add_argument("--revoke", action="store_true", help="withdraw an earlier agreement")


def _meant(word: str) -> str | None:
    """Return the command most similar to a word that names no file."""
    if not word.isalpha() or Path(word).exists():
        return None
    return next(iter(get_close_matches(word, COMMANDS, 1, 0.7)), None)


def _older_spelling(words: Sequence[str]) -> list[str]:
    """Read `--mcp-sse 8080` and `--mcp-sse=8080` as `--mcp-sse --mcp-port 8080`."""
    out: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word.startswith("--mcp-sse="):
            out += ["--mcp-sse", "--mcp-port", word.partition("=")[2]]
        elif word == "--mcp-sse" and rest and rest[0].isdigit():
            out += ["--mcp-sse", "--mcp-port", rest.pop(0)]
        else:
            out.append(word)
    return out
