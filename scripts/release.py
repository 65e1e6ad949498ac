"""Builds wheel, sdist and this platform's executable into release/, and smoke-tests each in a clean environment."""

import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from manifests import pack, repository, write
from smoke import smoke

ROOT = Path(__file__).parents[1]
RELEASE = ROOT / "release"
T = TypeVar("T")
LOCK = ROOT / "constraints.txt"
PIP = ("-m", "pip", "install", "--quiet", "-c", str(LOCK))
SYSTEMS = {"Linux": "linux", "Darwin": "darwin", "Windows": "windows"}
MACHINES = {"x86_64": "amd64", "AMD64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
NAMES = frozenset({"linux-amd64", "linux-arm64", "darwin-amd64", "darwin-arm64", "windows-amd64"})
PACKAGES = ("ui_mcp", "uvicorn", "lupa", "anyio", "websockets")
"""Packages whose modules are imported by name at run time, which PyInstaller cannot detect."""
DATA = ("ui_mcp",)
METADATA = ("ui-mcp",)


def executable_name(system: str, machine: str) -> str:
    """Return the documented file name of the executable for a platform.

    Raises:
        ValueError: there are no releases for it.
    """
    name = f"{SYSTEMS.get(system, system)}-{MACHINES.get(machine, machine)}"
    if name not in NAMES:
        raise ValueError(f"No executable is released for {system} on {machine}; available: {', '.join(sorted(NAMES))}")
    return f"ui-mcp-{name}{'.exe' if system == 'Windows' else ''}"


def main() -> int:
    """Build and test everything, and print how long each step took."""
    name = executable_name(platform.system(), platform.machine())
    shutil.rmtree(RELEASE, ignore_errors=True)
    RELEASE.mkdir()
    with tempfile.TemporaryDirectory(prefix="ui-mcp-release-") as scratch:
        step("sdist and wheel", build_packages)
        wheel, sdist = next(RELEASE.glob("*.whl")), next(RELEASE.glob("*.tar.gz"))
        from_wheel = step("install the wheel", lambda: installed(wheel, Path(scratch) / "wheel"))
        step("try the wheel", lambda: smoke(command_in(from_wheel)))
        from_sdist = step("install the sdist", lambda: installed(sdist, Path(scratch) / "sdist"))
        step("try the sdist", lambda: smoke(command_in(from_sdist)))
        step(f"executable {name}", lambda: freeze(from_wheel, Path(scratch), name))
        step("try the executable", lambda: smoke([str(RELEASE / name)]))
        step("bundle for Claude Desktop", lambda: pack(RELEASE / name, RELEASE / f"{Path(name).stem}.mcpb"))
    address = repository()
    step("manifests for hosts", lambda: write(RELEASE / "manifests", address))
    if not address:
        print("           without server.json: REPOSITORY=https://github.com/OWNER/NAME names its owner")
    for file in sorted(file for file in RELEASE.iterdir() if file.is_file()):
        print(f"{file.stat().st_size / 1e6:8.1f} MB  {file.relative_to(ROOT)}")
    return 0


def step(title: str, work: Callable[[], T]) -> T:
    """Run one step and print how long it took."""
    began = time.monotonic()
    result = work()
    print(f"{time.monotonic() - began:7.1f} s  {title}", flush=True)
    return result


def build_packages() -> None:
    """Build the sdist, and the wheel from that sdist, as an installer would."""
    # The build backend is locked too. The path is relative, because pip splits the variable at spaces.
    run([sys.executable, "-m", "build", "--outdir", str(RELEASE), str(ROOT)], PIP_CONSTRAINT=LOCK.name)


def installed(package: Path, folder: Path) -> Path:
    """Install a package into a new environment where neither Node nor Java is on PATH; return the environment."""
    venv.create(folder, with_pip=True)
    run([str(binaries(folder) / "python"), *PIP, str(package)], bare=True)
    return folder


def freeze(environment: Path, scratch: Path, name: str, target: Path = RELEASE) -> None:
    """Build one executable file in `target` from the installed wheel, its dependencies and the interpreter."""
    python = str(binaries(environment) / "python")
    run([python, *PIP, "pyinstaller>=6.10"])
    options = [
        *(f"--collect-submodules={package}" for package in PACKAGES),
        *(f"--collect-data={package}" for package in DATA),
        *(f"--copy-metadata={package}" for package in METADATA),
        "--onefile", "--console", "--noconfirm", "--log-level=ERROR", f"--name={name.removesuffix('.exe')}",
        f"--distpath={target}", f"--workpath={scratch / 'work'}", f"--specpath={scratch}",
    ]  # fmt: skip
    run([python, "-m", "PyInstaller", *options, str(ROOT / "scripts" / "executable.py")])


def command_in(environment: Path) -> list[str]:
    return [str(binaries(environment) / "ui-mcp")]


def binaries(environment: Path) -> Path:
    return environment / ("Scripts" if os.name == "nt" else "bin")


def run(command: list[str], *, bare: bool = False, **variables: str) -> None:
    """Run a build step; `bare` hides every tool of this machine except those beside the interpreter."""
    environment = {**os.environ, **variables}
    if bare:
        environment["PATH"] = str(Path(command[0]).parent)
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}\n{done.stderr}")


if __name__ == "__main__":
    sys.exit(main())
