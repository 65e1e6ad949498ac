"""Let agents inspect and operate a running JavaFX program or a web page.

  ui-mcp attach                        list Java programs and attached targets
  ui-mcp attach PID                    load the agent into a running JavaFX program, which needs no changes
  ui-mcp attach --url https://…        open a page in a browser that ui-mcp starts
  ui-mcp attach --cdp http://…:9222    connect to a browser started with --remote-debugging-port
  ui-mcp attach --javaagent            print the JVM option that loads the agent at start, where attaching is refused
  ui-mcp attach --detach NAME          detach a target; the program keeps running

Attached targets are listed by the tool ui_targets of the server for the same directory.
"""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import anyio

from ui_mcp.cli import options as shared
from ui_mcp.errors import UiArgumentError
from ui_mcp.introspection import targets
from ui_mcp.introspection.backend import Attachment, AttachRequest
from ui_mcp.introspection.backends import backend_of, backends
from ui_mcp.introspection.backends.javafx import agent_jar
from ui_mcp.introspection.backends.jvm_attach import jvms
from ui_mcp.introspection.targets import target_folder
from ui_mcp.ui.own_files import settle
from ui_mcp.workspace import Workspace

HELP = "let agents inspect and operate a JavaFX program or a web page"


def arguments(parser: argparse.ArgumentParser) -> None:
    shared.directory(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("pid", nargs="?", type=int, metavar="PID", help="process id of a running JavaFX program")
    for backend in backends().values():
        if backend.kind != "javafx":
            kind = int if backend.address == "PID" else str
            what.add_argument(f"--{backend.kind}", metavar=backend.address, type=kind, help=backend.summary)
    what.add_argument("--javaagent", action="store_true", help="print the JVM option that loads the agent at start")
    what.add_argument("--detach", metavar="NAME", help="detach a target")
    parser.add_argument("--read-only", action="store_true", help="JavaFX: allow inspection only, no actions")
    parser.add_argument("--name", metavar="NAME", help="name of the target (default: javafx-PID, url or cdp)")


def run(options: argparse.Namespace) -> int:
    workspace = Workspace.at(options.dir)
    settle(workspace)
    folder = target_folder(workspace)
    request = _requested(options, folder)
    if request is not None:
        target = anyio.run(backend_of(request.kind).attach, request)
        _attached(folder, replace(target, name=options.name or target.name))
    elif options.javaagent:
        print(_java_option(folder))
    elif options.detach:
        if not targets.remove(folder, options.detach):
            raise UiArgumentError(f"No target {options.detach!r} is attached")
        print(f"Detached: {options.detach}")
    else:
        _list(folder)
    return 0


def _requested(options: argparse.Namespace, folder: Path) -> AttachRequest | None:
    """Return what to attach; a process id without an option means JavaFX."""
    given = {kind: getattr(options, "pid" if kind == "javafx" else kind) for kind in backends()}
    for kind, address in given.items():
        if address is not None:
            pid, url = (address, None) if isinstance(address, int) else (None, address)
            return AttachRequest(kind, folder, pid, url=url, read_only=options.read_only)
    return None


def _attached(folder: Path, target: Attachment) -> None:
    targets.write(folder, target)
    print(f'Attached {target.title or target.pid} as target "{target.name}".')


def _java_option(folder: Path) -> str:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    jar = agent_jar(folder)
    return f"-javaagent:{jar}=enabled=true;file={folder / 'started.json'}"


def _list(folder: Path) -> None:
    found = list(jvms())
    for jvm in found:
        print(f"{jvm.pid:>8}  {'JavaFX' if jvm.javafx else 'Java  '}  {jvm.command}")
    if not found:
        supported = "" if sys.platform == "linux" else " (they can be found only on Linux; use --javaagent here)"
        print(f"Found no running Java programs of this user{supported}.")
    for target in targets.read_all(folder):
        print(f'attached: "{target.name}"  {target.title}')
