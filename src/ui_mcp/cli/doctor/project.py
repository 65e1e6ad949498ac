"""Checks of the project: directory, settings, files, ports, chat store and gateway."""

import os
import re
import socket
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

import anyio

from ui_mcp import config as settings
from ui_mcp.chat.service import store_url
from ui_mcp.cli.doctor.findings import Finding, note, ok, problem
from ui_mcp.config import Config
from ui_mcp.errors import ConfigError, UiMcpError
from ui_mcp.gateway.config import loader
from ui_mcp.gateway.config.agreement import trust_requests, visible
from ui_mcp.storage.database import INSTALL_DRIVER
from ui_mcp.storage.sqlite import first_problem
from ui_mcp.ui import own_files as files
from ui_mcp.ui.base_dir.file_layout import Action, decide, foreign_product, look
from ui_mcp.ui.base_dir.install_plan import bundled_files
from ui_mcp.ui.base_dir.installer import installed_version, needs_install, outdated
from ui_mcp.ui.instance import joined_server, open_regular, other_server
from ui_mcp.ui.refusals import refusals
from ui_mcp.workspace import CHAT_FILE, JOURNAL_FILE, MOVING, OLD_FILES, STATE_FILE, Workspace

NAME = "own files"


def own_files(workspace: Workspace) -> list[Finding]:
    """Report where our own files are, and any that are elsewhere."""
    return [_place(workspace), *_behind_links(workspace), *_left_behind(workspace)]


def _place(workspace: Workspace) -> Finding:
    if workspace.own.is_symlink() or workspace.own.is_file():
        kind = "link" if workspace.own.is_symlink() else "file"
        return problem(NAME, f"{workspace.own} is a {kind} but must be a directory", f"Remove the {kind}.")
    if link := files.own_link(workspace):
        return problem(NAME, f"{link} is a link but must be a regular file", "Remove the link.")
    facts = look(workspace)
    if decide(facts) is not Action.MOVE:
        kept = sorted(path.name for name in OLD_FILES for path in workspace.storage.glob(f"{name}.before-*"))
        originals = f"; originals kept: storage/{', storage/'.join(kept)}" if kept else ""
        return ok(NAME, f"{workspace.own}{originals}")
    if why := _reason(workspace):
        text = f"{', '.join(facts.left)} could not be moved from {workspace.storage} to {workspace.own.name}: {why}"
        return note(NAME, text, "Everything works; the next start tries again.")
    what = "a move was interrupted" if facts.own == "unfinished" else f"{', '.join(facts.left)} are in storage/"
    return note(NAME, f"{what}; the next start moves them to {workspace.own}", "Run any ui-mcp command here.")


def _reason(workspace: Workspace) -> str:
    try:
        with open_regular(files.lock_file(workspace), os.O_RDONLY) as file:
            return file.read(1000).decode(errors="replace")
    except (OSError, ConfigError):
        return "" if os.access(workspace.base, os.W_OK) else f"{workspace.base} is not writable"


def _behind_links(workspace: Workspace) -> list[Finding]:
    found = files.behind_links(workspace)
    if not found:
        return []
    text = f"not moved because a link points there: {', '.join(map(str, found))}"
    store = (workspace.storage / CHAT_FILE).resolve()
    return [
        note(
            "linked files", text, f"If that chat is yours, `ui-mcp chat restore {store}` copies it into an empty store."
        )
    ]


def _left_behind(workspace: Workspace) -> list[Finding]:
    put_aside = sorted(path.name for name in OLD_FILES for path in workspace.storage.glob(f"{name}.after-*"))
    names = [*files.left_behind(workspace), *put_aside]
    if not names or (workspace.own / MOVING).exists():
        return []
    store = next((name for name in names if name.startswith(CHAT_FILE)), None)
    text = f"an older ui-mcp wrote {', '.join(names)} in {workspace.storage} after these files were moved"
    read = f"`ui-mcp chat history --store {workspace.storage / store}` shows its messages. " if store else ""
    return [
        note("older files", text, f"{read}Update the older ui-mcp, then delete these files if you do not need them.")
    ]


PORTS = (("UI", 8000), ("MCP", 8001))
SECONDS = 5.0


async def findings(workspace: Workspace) -> list[Finding]:
    """Run the checks of one project; a directory that does not exist yet is no problem."""
    found = [directory(workspace)]
    if any(path.is_file() for path in (workspace.base, *workspace.base.parents)):
        return found
    config, judged = configuration(workspace)
    found.append(judged)
    if workspace.base.is_dir():
        found += [*made_by(workspace), installed(workspace), *own_files(workspace), private(workspace)]
    if config is not None:
        found += [trust(workspace), *refused(workspace)]
        found += [ports(workspace, config), *await stores(workspace, config)]
        found += gateway(workspace, config)
    return found


def directory(workspace: Workspace) -> Finding:
    """Check that the base directory, or its nearest existing parent, can be written."""
    there = workspace.base.is_dir()
    nearest = next(folder for folder in (workspace.base, *workspace.base.parents) if folder.exists())
    if not nearest.is_dir():
        return problem("directory", f"{nearest} is a file, not a directory", "Choose another directory with --dir.")
    try:
        with tempfile.TemporaryFile(dir=nearest):
            pass
    except OSError as error:
        text = f"{workspace.base}: {nearest} is not writable: {error.strerror or error}"
        return problem("directory", text, f"Run chown or chmod on {nearest}, or choose another directory with --dir.")
    if not there:
        return note("directory", f"{workspace.base} does not exist yet", "`ui-mcp install` or a host creates it.")
    return ok("directory", str(workspace.base))


def configuration(workspace: Workspace) -> tuple[Config | None, Finding]:
    """Check config.toml and the environment; the configuration is None if it is invalid."""
    file = workspace.config_file
    try:
        config = settings.load(file)
        unknown = settings.unknown_keys(file)
    except UiMcpError as error:
        return None, problem("settings", error.message, "Fix that line; docs/settings.md lists every setting.")
    if unknown:
        text = f"{file}: unknown and ignored: {', '.join(unknown)}"
        return config, note("settings", text, "Check the spelling; docs/settings.md lists every setting.")
    return config, ok("settings", str(file) if file.is_file() else "all defaults")


def trust(workspace: Workspace) -> Finding:
    """Report the settings that need the person's agreement."""
    try:
        waiting = [request for request in trust_requests(workspace) if not request.agreed]
    except UiMcpError as error:
        return problem("trust", error.message, "Fix that line; docs/settings.md lists every setting.")
    if not waiting:
        return ok("trust", "no setting needs your agreement")
    text = "; ".join(f"{request.place}: {_few(request.lines)}" for request in waiting)
    return note("trust", f"not in effect until you agree: {text}", "`ui-mcp trust` shows them and asks you.")


def refused(workspace: Workspace) -> list[Finding]:
    """Report what apps were recently refused, with the setting that would allow it."""
    return [
        note(
            "apps",
            visible(one["message"].partition("\n")[0]),
            visible(f"Add {one['line']} to [lua.permissions] in {workspace.config_file} and run `ui-mcp trust`.")
            if one["line"]
            else "Nothing to do: no setting allows it.",
        )
        for one in refusals(workspace)
    ]


def made_by(workspace: Workspace) -> list[Finding]:
    """Report that another product made the project."""
    product = foreign_product(workspace)
    if product is None:
        return []
    text = f"made by {visible(product)}: its shell, apps, themes and data are used, with the page of ui-mcp"
    return [ok("project", text)]


def installed(workspace: Workspace) -> Finding:
    if foreign_product(workspace) is not None and installed_version(workspace) is None:
        return ok("installed files", "none; `ui-mcp install` adds skills and guides and replaces nothing")
    fix = "Run `ui-mcp install`; files you changed are kept."
    if needs_install(workspace):
        return note("installed files", "skills, guides and scripts are not installed", "Run `ui-mcp install`.")
    if stale := outdated(workspace):
        return problem("installed files", stale.partition(": call")[0], fix)
    files = bundled_files(workspace)
    missing = [file.path for file in files if not file.target.exists()]
    if missing:
        return problem("installed files", f"missing: {_few(missing)}", "Run `ui-mcp install --force`.")
    waiting = [f"{file.path}.merge" for file in files if file.target.with_name(f"{file.target.name}.merge").exists()]
    if waiting:
        return note("installed files", f"new versions are beside yours: {_few(waiting)}", "Merge and delete them.")
    return ok("installed files", f"{len(files)} files, up to date")


def private(workspace: Workspace) -> Finding:
    """Check that other accounts of the machine cannot read our secrets."""
    files = [workspace.mcp_token, workspace.state_dir / CHAT_FILE]
    open_to_others = [
        str(file) for file in files if os.name == "posix" and file.exists() and file.stat().st_mode & 0o077
    ]
    if open_to_others:
        return problem(
            "permissions", f"other accounts can read {', '.join(open_to_others)}", "Run chmod 600 on each of them."
        )
    return ok("permissions", "only you can read tokens and chat")


def ports(workspace: Workspace, config: Config) -> Finding:
    """Report which server serves the directory, or whether the ports of `ui-mcp serve` are free."""
    if other := other_server(workspace):
        where = f" at {other.url}" if other.url else ""
        return ok("ports", f"{other.process} serves this directory{where}; further clients join it")
    if joined := joined_server(workspace):
        return ok("ports", f"{joined.process} has clients in this directory; its UI is not started")
    asked = (config.server.port, config.server.mcp_port)
    wanted = [usual if port is None else port for port, (_, usual) in zip(asked, PORTS, strict=True)]
    taken = [str(port) for port in wanted if port and not _free(config.server.host, port)]
    if taken:
        text = f"in use by another program: {', '.join(taken)}"
        return note("ports", text, "`ui-mcp serve --port 0 --mcp-port 0` uses free ports; hosts always do.")
    return ok("ports", f"{' and '.join(map(str, wanted))} are free on {config.server.host}")


async def stores(workspace: Workspace, config: Config) -> list[Finding]:
    """Check that the stores of chat, agent and state can be read."""
    url = store_url(config, workspace)
    if url.startswith("postgres"):
        return [await _postgres(url)]
    chat = Path(re.sub(r"^sqlite:///", "", url))
    damaged = [
        _damaged(name, file)
        for name, file in [
            ("agent store", workspace.state_dir / JOURNAL_FILE),
            ("state store", workspace.state_dir / STATE_FILE),
        ]
    ]
    return [_damaged("chat store", chat) or ok("chat store", str(chat)), *(one for one in damaged if one)]


def _damaged(name: str, file: Path) -> Finding | None:
    """Return what is wrong with a SQLite file, None if nothing is or there is no file."""
    if not file.exists():
        return None
    why = first_problem(file)
    remedy = "`ui-mcp chat restore FILE` brings a backup back" if name == "chat store" else "A new one is made"
    fix = f"Move {file} away, with the files beside it that begin with its name. {remedy}."
    return problem(name, f"{file}: {why}", fix) if why else None


async def _postgres(url: str) -> Finding:
    parts = urlsplit(url)
    shown = f"{parts.hostname or 'localhost'}:{parts.port or 5432}{parts.path}"
    try:
        from ui_mcp.storage.postgres import server_version
    except ImportError:
        return problem("chat store", "the PostgreSQL driver is not installed", INSTALL_DRIVER)
    try:
        with anyio.fail_after(SECONDS):
            return ok("chat store", f"PostgreSQL {await server_version(url)} at {shown}")
    except (UiMcpError, TimeoutError) as error:
        why = error.message if isinstance(error, UiMcpError) else "no answer"
        return problem("chat store", f"{shown}: {why}", "Start the database, or fix storage.url in config.toml.")


def gateway(workspace: Workspace, config: Config) -> list[Finding]:
    """Check the gateway's file, if the settings name one."""
    if not config.gateway.config:
        return []
    file = workspace.named(config.gateway.config)
    try:
        warnings = loader.load(file).warnings
    except UiMcpError as error:
        return [problem("gateway", error.message, "Fix it; `nlui check FILE` gives details.")]
    if warnings:
        return [note("gateway", "; ".join(warnings), "`nlui check FILE` gives details.")]
    return [ok("gateway", str(file))]


def _free(host: str, port: int) -> bool:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        # As the server does; otherwise a port in TIME_WAIT would seem to be in use.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def _few(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
