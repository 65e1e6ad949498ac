"""Attaches, lists and detaches programs and pages: `ui-mcp attach`."""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import anyio

from ui_mcp.errors import UiArgumentError
from ui_mcp.introspection import targets
from ui_mcp.introspection.backend import Attachment, AttachRequest
from ui_mcp.introspection.backends import backend_of, backends
from ui_mcp.introspection.backends.javafx import agent_jar
from ui_mcp.introspection.backends.jvm_attach import jvms
from ui_mcp.introspection.targets import target_folder
from ui_mcp.ui.own_files import settle
from ui_mcp.workspace import Workspace


def run_attach(options: argparse.Namespace) -> int:
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
        print(f"{jvm.pid:>8}  {'JavaFX' if jvm.javafx else 'Swing ' if jvm.swing else 'Java  '}  {jvm.command}")
    if not found:
        supported = "" if sys.platform == "linux" else " (they can be found only on Linux; use --javaagent here)"
        print(f"Found no running Java programs of this user{supported}.")
    for target in targets.read_all(folder):
        print(f'attached: "{target.name}"  {target.title}')
