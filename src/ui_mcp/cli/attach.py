"""Let agents look at a running JavaFX program or at a foreign page, and operate it.

  ui-mcp attach                        list Java programs and what is attached
  ui-mcp attach PID                    load the agent into a running JavaFX program; nothing in it has to change
  ui-mcp attach --url https://…        open a page in a browser of our own
  ui-mcp attach --cdp http://…:9222    join a browser started with --remote-debugging-port
  ui-mcp attach --javaagent            print the option that starts a program with the agent, where attaching is refused
  ui-mcp attach --detach NAME          forget a target; the program goes on

Whatever is attached here is listed by ui_targets of the server of the same directory.
"""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import anyio

from ui_mcp.cli import options as shared
from ui_mcp.errors import UiArgumentError
from ui_mcp.introspection import targets
from ui_mcp.introspection.backend import Attachment, Kind
from ui_mcp.introspection.backends.chromium_launch import complete_url, require_debugger
from ui_mcp.introspection.backends.javafx import agent_jar, attach_javafx
from ui_mcp.introspection.backends.jvm_attach import jvms
from ui_mcp.introspection.targets import target_folder
from ui_mcp.ui.own_files import settle
from ui_mcp.workspace import Workspace

HELP = "let agents look at a JavaFX program or a page"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Take what to attach."""
    shared.directory(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("pid", nargs="?", type=int, metavar="PID", help="a running JavaFX program")
    what.add_argument("--url", metavar="URL", help="a page to open")
    what.add_argument("--cdp", metavar="URL", help="a browser's debugging address")
    what.add_argument("--javaagent", action="store_true", help="print the option for a program's command line")
    what.add_argument("--detach", metavar="NAME", help="forget a target")
    parser.add_argument("--read-only", action="store_true", help="JavaFX: looking only, no actions")
    parser.add_argument("--name", metavar="NAME", help="what agents call it (default: javafx-PID, url or cdp)")


def run(options: argparse.Namespace) -> int:
    """Attach, list or forget."""
    workspace = Workspace.at(options.dir)
    settle(workspace)
    folder = target_folder(workspace)
    if options.pid is not None:
        entered = attach_javafx(folder, options.pid, read_only=options.read_only)
        _attached(folder, replace(entered, name=options.name or entered.name))
    elif options.url or options.cdp:
        kind: Kind = "url" if options.url else "cdp"
        address = complete_url(options.url or options.cdp)
        if kind == "cdp":
            anyio.run(require_debugger, address)
        _attached(folder, Attachment(options.name or kind, kind, address, url=address))
    elif options.javaagent:
        print(_java_option(folder))
    elif options.detach:
        if not targets.remove(folder, options.detach):
            raise UiArgumentError(f"No target {options.detach!r} is attached")
        print(f"Forgotten: {options.detach}")
    else:
        _list(folder)
    return 0


def _attached(folder: Path, target: Attachment) -> None:
    targets.write(folder, target)
    print(f'Attached {target.title or target.pid}; agents call it target "{target.name}".')


def _java_option(folder: Path) -> str:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    jar = agent_jar(folder)
    return f"-javaagent:{jar}=enabled=true;file={folder / 'started.json'}"


def _list(folder: Path) -> None:
    found = list(jvms())
    for jvm in found:
        print(f"{jvm.pid:>8}  {'JavaFX' if jvm.javafx else 'Java  '}  {jvm.command}")
    if not found:
        supported = "" if sys.platform == "linux" else " (they are found on Linux only; use --javaagent here)"
        print(f"No Java programs of this user run{supported}.")
    for target in targets.read_all(folder):
        print(f'attached: "{target.name}"  {target.title}')
