"""Checks our dependencies for security advisories: Python packages with pip-audit, the page's with npm audit.

Exit codes: 0, both were checked and there are no advisories; 1, there are advisories; 2, a database did not answer.
"""

import importlib.metadata
import json
import re
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import assets

ROOT = Path(__file__).parent.parent
NOT_ASKED = """\
{what}: NOT CHECKED: {reason}
  Run `make audit` again where {service} can be reached; the job `audit` of .github/workflows/ci.yml
  checks with every push and every Monday."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Result of one audit: exit code and report."""

    code: int
    text: str


class NotAskedError(Exception):
    """The database did not answer."""


def main() -> int:
    """Run both audits and print their results."""
    verdicts = [
        verdict("Python packages", "the Python package index", lambda: python_advisories(_pip_audit())),
        verdict("Packages of the page", "the npm registry", lambda: page_advisories(_npm_audit())),
    ]
    for one in verdicts:
        print(one.text)
    return max(one.code for one in verdicts)


def verdict(what: str, service: str, ask: Callable[[], list[str]]) -> Verdict:
    """Run one audit and return its result."""
    try:
        found = ask()
    except NotAskedError as error:
        return Verdict(2, NOT_ASKED.format(what=what, reason=error, service=service))
    if found:
        return Verdict(1, "\n  ".join([f"{what}: {len(found)} advisories", *found]))
    return Verdict(0, f"{what}: no advisory is known")


def python_advisories(answer: dict[str, Any]) -> list[str]:
    """Return one line per advisory of pip-audit.

    Raises:
        NotAskedError: pip-audit could not check one of the packages.
    """
    packages = answer["dependencies"]
    found = [
        f"{package['name']} {package['version']}: {one['id']}, fixed in: {', '.join(one['fix_versions']) or 'none'}"
        for package in packages
        for one in package.get("vulns", [])
    ]
    skipped = [package["skip_reason"] for package in packages if "skip_reason" in package]
    if skipped and not found:
        raise NotAskedError(f"{len(skipped)} of {len(packages)}, the first because: {skipped[0]}")
    return found


def page_advisories(answer: dict[str, Any]) -> list[str]:
    """Return one line per npm advisory of at least moderate severity.

    Raises:
        NotAskedError: the registry did not answer.
    """
    if "vulnerabilities" not in answer:
        raise NotAskedError(answer.get("message") or answer.get("error", {}).get("summary") or "no answer")
    found = answer["vulnerabilities"].values()
    return [f"{one['name']}: {one['severity']}" for one in found if one["severity"] not in {"info", "low"}]


def _npm_audit() -> dict[str, Any]:
    npm, environment = assets.node_tools()
    return _json([*npm, "audit", "--json"], cwd=ROOT / "web", env=environment)


def _pip_audit() -> dict[str, Any]:
    """Audit the installed versions of our dependencies, with a pip-audit from a separate environment."""
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "requirements.txt"
        listed.write_text("\n".join(f"{name}=={version}" for name, version in sorted(shipped().items())) + "\n")
        venv.create(f"{folder}/audit", with_pip=True)
        python = f"{folder}/audit/{'Scripts' if sys.platform == 'win32' else 'bin'}/python"
        lock = str(ROOT / "constraints.txt")
        install = [python, "-m", "pip", "install", "--quiet", "-c", lock, "pip-audit>=2.9"]
        if subprocess.run(install, check=False).returncode:
            raise NotAskedError("pip-audit cannot be installed")
        options = ["--no-deps", "--disable-pip", "--progress-spinner=off", "--format=json"]
        return _json([python, "-m", "pip_audit", "--requirement", str(listed), *options])


def _json(command: list[str], **options: Any) -> dict[str, Any]:
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    try:
        return dict(json.loads(done.stdout))
    except ValueError as error:
        said = [line for line in done.stderr.splitlines() if line.strip()]
        raise NotAskedError(said[-1] if said else f"{command[0]} ended with {done.returncode}") from error


def shipped(
    root: str = "ui-mcp", extras: frozenset[str] = frozenset({"postgres", "browser", "keyring"})
) -> dict[str, str]:
    """Return the installed versions of all dependencies of ui-mcp."""
    found: dict[str, str] = {}
    waiting = [root]
    while waiting:
        name = waiting.pop()
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # for another platform, or from an extra that is not installed
        wanted = [
            needed for needed in distribution.requires or [] if _is_wanted(needed, extras if name == root else ())
        ]
        names = [re.split(r"[\s\[<>=!~;(]", needed, maxsplit=1)[0].lower().replace("_", "-") for needed in wanted]
        waiting += [needed for needed in names if needed not in found and needed != root]
        if name != root:
            found[name] = distribution.version
    return found


def _is_wanted(needed: str, extras: frozenset[str] | tuple[()]) -> bool:
    extra = re.search(r"extra\s*==\s*['\"]([^'\"]+)", needed)
    return extra is None or extra[1] in extras


if __name__ == "__main__":
    sys.exit(main())
