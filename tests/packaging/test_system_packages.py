"""Setting up a fresh machine, with stand-ins for the system's tools."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

LIBRARIES = (
    "usr/lib/x/faketime/libfaketime.so.1",
    "usr/lib/x/libatomic.so.1",
    "usr/lib/jvm/java-17/lib/libawt_xawt.so",
)
PROGRAMS = (
    *("curl", "javac", "Xvfb", "openbox", "initdb", "haproxy", "objdump", "zsh", "fish"),
    *("dbus-run-session", "gnome-keyring-daemon"),
)
SCRIPT = Path(__file__).parents[2] / "scripts" / "system-packages"

pytestmark = pytest.mark.skipif(os.name == "nt", reason="a shell script")


class Machine:
    """A machine on which only the given programs exist."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "root"
        self.tools = folder / "tools"
        self.calls = folder / "apt-calls"
        self.tools.mkdir()
        (self.tools / "python3").symlink_to(sys.executable)

    def give(self, name: str, text: str = "") -> None:
        (self.tools / name).write_text(f"#!/bin/sh\n{text}\n")
        (self.tools / name).chmod(0o755)

    def run(self, purpose: str = "test", **environment: str) -> subprocess.CompletedProcess[str]:
        env = {"PATH": str(self.tools), "SYSROOT": str(self.root), **environment}
        return subprocess.run(
            ["/bin/sh", str(SCRIPT), purpose], env=env, capture_output=True, text=True, timeout=120, check=False
        )

    def have(self, *files: str) -> None:
        for file in files:
            (self.root / file).parent.mkdir(parents=True, exist_ok=True)
            (self.root / file).touch()

    def installed(self) -> list[str]:
        return self.calls.read_text().split() if self.calls.exists() else []


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machine = Machine(tmp_path)
    machine.give("uname", "echo Linux")
    machine.give("apt-get", f'echo "$@" >> {machine.calls}')
    return machine


def test_nothing_happens_when_everything_is_there(machine: Machine) -> None:
    for name in ("chromium", *PROGRAMS):
        machine.give(name)
    machine.have(*LIBRARIES)

    done = machine.run(JAVAFX_LIB="/somewhere")

    assert (done.returncode, done.stderr, machine.installed()) == (0, "", [])


def test_root_gets_the_missing_packages_installed(machine: Machine) -> None:
    machine.give("id", "echo 0")

    done = machine.run()

    assert done.returncode == 0
    assert {"install", "-y", "chromium", "curl", "default-jdk-headless", "xvfb"} <= set(machine.installed())


def test_each_missing_package_is_named_once_with_the_command(machine: Machine) -> None:
    machine.give("id", "echo 1000")

    lines = machine.run().stderr.splitlines()

    command = next(line for line in lines if "apt-get" in line)
    packages = command.partition(" -y ")[2].split()
    assert {"chromium", "default-jre", "openjfx", "postgresql", "libatomic1"} <= set(packages)
    assert len(packages) == len(set(packages))
    assert lines[-1] == "Going on without them: tests that need them are skipped."


def test_others_are_told_the_exact_command_and_may_go_on(machine: Machine) -> None:
    machine.give("id", "echo 1000")
    for name in PROGRAMS:
        machine.give(name)
    machine.have(*LIBRARIES)

    done = machine.run(JAVAFX_LIB="/somewhere")

    assert done.returncode == 0
    assert "Install with:  sudo apt-get install -y chromium\n" in done.stderr
    assert machine.installed() == []


def test_in_ci_something_missing_is_a_failure(machine: Machine) -> None:
    machine.give("id", "echo 1000")

    assert machine.run(CI="true").returncode == 1


def test_running_the_product_needs_no_browser_packages(machine: Machine) -> None:
    machine.give("id", "echo 1000")

    assert (machine.run("run").returncode, machine.run("run").stderr) == (0, "")
