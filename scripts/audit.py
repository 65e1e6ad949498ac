"""Asks the advisory databases about what we ship: Python dependencies by pip-audit, those of the page by npm audit."""

import importlib.metadata
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import assets

ROOT = Path(__file__).parent.parent


def main() -> int:
    """Run both audits; the exit code says whether anything was found or could not be asked."""
    return max(_python(), _page())


def _page() -> int:
    npm, environment = assets.node_tools()
    command = [*npm, "audit", "--audit-level=moderate"]
    return subprocess.run(command, cwd=ROOT / "web", env=environment, check=False).returncode


def _python() -> int:
    """Audit the versions installed here that ui-mcp needs, with a pip-audit that is not among them."""
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "requirements.txt"
        listed.write_text("\n".join(f"{name}=={version}" for name, version in sorted(shipped().items())) + "\n")
        venv.create(f"{folder}/audit", with_pip=True)
        python = f"{folder}/audit/{'Scripts' if sys.platform == 'win32' else 'bin'}/python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", "pip-audit>=2.9"], check=True)
        command = [python, "-m", "pip_audit", "--requirement", str(listed), "--no-deps", "--disable-pip", "--strict"]
        return subprocess.run(command, check=False).returncode


def shipped(
    root: str = "ui-mcp", extras: frozenset[str] = frozenset({"postgres", "browser", "keyring"})
) -> dict[str, str]:
    """Return the installed versions of everything an installation of ui-mcp brings along."""
    found: dict[str, str] = {}
    waiting = [root]
    while waiting:
        name = waiting.pop()
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # for another platform, or an extra that is not installed here
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
