"""What `ui-mcp setup` does: find hosts, show the changes, write them, ask each host whether it sees us."""

import argparse
import difflib
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ui_mcp.app.setup.config_file import Change, planned
from ui_mcp.app.setup.hooks import HOOKS, planned_hook
from ui_mcp.app.setup.hosts import BY_NAME, HOSTS, Host
from ui_mcp.errors import ConfigError, InvalidArgumentsError
from ui_mcp.workspace import DEFAULT_DIR, OTHER_DIR

CHECK_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Step:
    """What happens to one host: a change of its file, or the reason why there is none."""

    host: Host
    change: Change | None
    refusal: str = ""


def run_setup(options: argparse.Namespace) -> int:
    """Carry out `ui-mcp setup`; return the exit code, 1 if a host could not be set up."""
    project = Path.cwd()
    hosts = chosen_hosts(options.hosts)
    if options.hooks:
        return _run_hooks(options, hosts, project)
    if not hosts:
        print("No host was found on this machine.\nName one: ui-mcp setup " + "|".join(BY_NAME))
        return 1
    base = base_dir(project, hosts, options.dir)
    steps = [_step(host, project, base, remove=options.remove) for host in hosts]
    written = _written(steps, project, options)
    if written is None:
        return 1
    if written and not options.remove:
        # Hosts that are given no directory find `.ui` once it exists.
        (project / base).mkdir(parents=True, exist_ok=True)
    if not options.dry_run and not options.remove:
        _report(steps, project)
    return 1 if any(step.refusal for step in steps) else 0


def _written(steps: Sequence[Step], project: Path, options: argparse.Namespace) -> bool | None:
    """Show what will change, and write it; None if the person does not agree, False if there is nothing to write."""
    for step in steps:
        _show(step, project)
    changes = [step.change for step in steps if step.change and not step.change.is_none]
    if options.dry_run:
        print("\nNothing was written (--dry-run).")
        return False
    if changes and not options.yes and not _agreed(len(changes)):
        print("Nothing was written.")
        return None
    if changes:
        _write(changes, project)
    return bool(changes)


def _run_hooks(options: argparse.Namespace, hosts: Sequence[Host], project: Path) -> int:
    """Install or remove the hooks of the hosts that have some."""
    able = [host for host in hosts if host.name in HOOKS]
    if options.hosts and len(able) < len(hosts):
        others = ", ".join(host.name for host in hosts if host.name not in HOOKS)
        raise InvalidArgumentsError(f"No permission hooks are known for {others}\nThere are: {', '.join(HOOKS)}")
    if not able:
        print("No host with permission hooks was found.\nName one: ui-mcp setup --hooks " + "|".join(HOOKS))
        return 1
    steps = [_hook_step(host, project, remove=options.remove) for host in able]
    written = _written(steps, project, options)
    if written is None:
        return 1
    if written and not options.remove:
        print(
            "\nWhat is left to do:",
            *(f"  {step.host.title}: {HOOKS[step.host.name].note}" for step in steps),
            sep="\n",
        )
    return 1 if any(step.refusal for step in steps) else 0


def _hook_step(host: Host, project: Path, *, remove: bool) -> Step:
    try:
        return Step(host, planned_hook(host.name, project, remove=remove))
    except ConfigError as error:
        return Step(host, None, error.message)


def chosen_hosts(names: Sequence[str]) -> list[Host]:
    """Return the hosts of these names, or those that are installed.

    Raises:
        InvalidArgumentsError: there is no such host.
    """
    if not names:
        return [host for host in HOSTS if host.is_installed()]
    known = {host.title.lower().replace(" ", "-"): host for host in HOSTS} | BY_NAME
    for name in names:
        if name not in known:
            close = difflib.get_close_matches(name, known, 1)
            guess = f"Did you mean {close[0]}?" if close else f"There are: {', '.join(BY_NAME)}"
            raise InvalidArgumentsError(f"No host {name!r}\n{guess}")
    return list(dict.fromkeys(known[name] for name in names))


def base_dir(project: Path, hosts: Sequence[Host], named: str | None) -> Path:
    """Return the base directory for all these hosts: as named, as it exists, `.ui` if one of them guards `.claude/`."""
    if named:
        return Path(named)
    for known in (DEFAULT_DIR, OTHER_DIR):
        if (project / known).is_dir():
            return Path(known)
    return Path(OTHER_DIR if any(host.guards_claude for host in hosts) else DEFAULT_DIR)


def _step(host: Host, project: Path, base: Path, *, remove: bool) -> Step:
    try:
        entry = None if remove else host.entry(base, project)
        return Step(host, planned(host.config(project), host.form, host.path, entry))
    except ConfigError as error:
        return Step(host, None, error.message)


def _show(step: Step, project: Path) -> None:
    print(f"\n{step.host.title}")
    if step.change is None:
        print(f"  {step.refusal}")
        return
    print(f"  {_short(step.change.file, project)}" + ("" if step.change.before is not None else " (new)"))
    if step.change.is_none:
        print("  is as it should be")
    for line in step.change.diff().splitlines():
        print(f"    {line}")


def _agreed(count: int) -> bool:
    """Ask the person at the terminal; without one, the command itself is the agreement."""
    if not sys.stdin.isatty():
        return True
    try:
        answer = input(f"\nWrite {'this file' if count == 1 else f'these {count} files'}? [Y/n] ")
    except EOFError:
        return False
    return answer.strip().lower() in {"", "y", "yes"}


def _write(changes: Sequence[Change], project: Path) -> None:
    print()
    for change in changes:
        done = change.write()
        kept = f"; before: {_short(change.backup, project)}" if change.backup.exists() else ""
        print(f"{done} {_short(change.file, project)}{kept}")


def _report(steps: Sequence[Step], project: Path) -> None:
    print("\nWhat is left to do:")
    for step in steps:
        if step.change is not None:
            seen = _seen(step.host, project)
            print(f"  {step.host.title}: {seen}{step.host.approve}")


def _seen(host: Host, project: Path) -> str:
    """Ask a host's own command whether it knows the server; empty if it has no command for that."""
    command = shutil.which(host.check[0]) if host.check else None
    if command is None:
        return ""
    try:
        done = subprocess.run(
            [command, *host.check[1:]], cwd=project, capture_output=True, text=True, errors="replace",
            timeout=CHECK_SECONDS, check=False, stdin=subprocess.DEVNULL, env={**os.environ, "NO_COLOR": "1"},
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return f"`{' '.join(host.check)}` gave no answer. "
    told = [line.strip() for line in (done.stdout + done.stderr).splitlines() if _names_us(line)]
    return f'it says "{told[0]}". ' if told else f"`{' '.join(host.check)}` does not list it yet. "


def _names_us(line: str) -> bool:
    return any(word.strip(":✓✗●○•*- ") == "ui" for word in line.split())


def _short(path: Path, project: Path) -> str:
    for folder, shown in ((project, ""), (Path.home(), "~/")):
        if path.is_relative_to(folder):
            return f"{shown}{path.relative_to(folder).as_posix()}"
    return str(path)
