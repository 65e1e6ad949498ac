"""constraints.txt locks every version that development and CI install, on every platform."""

import importlib.metadata
import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

LINE = re.compile(r"(?P<name>[a-z0-9]+(?:-[a-z0-9]+)*)==(?P<version>[0-9][0-9a-z.!+]*)")
INSTALL = re.compile(r"\bpip\W+install\b(?P<rest>(?:.|(?<=\\)\n)*)")
AGAIN = "run `make lock`"
UNLOCKED = {
    "scripts/clients.py",  # environments of foreign programs, with versions that are not ours on purpose
    "scripts/lock.py",  # asks for the newest versions, installs nothing
}


@pytest.fixture(scope="module")
def script(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("lock_script", root / "scripts" / "lock.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def lines(root: Path) -> list[str]:
    text = (root / "constraints.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if not line.startswith("#")]


@pytest.fixture(scope="module")
def locked(lines: list[str]) -> dict[str, str]:
    return {found["name"]: found["version"] for found in map(LINE.fullmatch, lines) if found}


@pytest.fixture(scope="module")
def needed(script: ModuleType) -> dict[str, Requirement]:
    """What every Python on every platform needs, by the metadata of the packages that are installed here."""
    installed = {
        canonicalize_name(one.metadata["Name"]): {"requires_dist": one.requires or []}
        for one in importlib.metadata.distributions()
    }
    return {
        str(one): one
        for environment in script.environments()
        for one in script.needed(script.roots(), installed, environment)
    }


@pytest.fixture(scope="module")
def project(root: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return found


def test_each_line_is_an_exact_version_and_names_no_host_or_path(lines: list[str]) -> None:
    assert [line for line in lines if not LINE.fullmatch(line)] == []
    names = [line.partition("==")[0] for line in lines]
    assert names == sorted(set(names))


def test_everything_that_an_installation_needs_on_any_platform_is_locked(
    needed: dict[str, Requirement], locked: dict[str, str]
) -> None:
    names = {canonicalize_name(one.name) for one in needed.values()}

    assert {"anyio", "colorama", "greenlet", "psycopg-binary", "pywin32"} <= names
    assert sorted(names - locked.keys()) == [], AGAIN


def test_every_bound_admits_the_locked_version(needed: dict[str, Requirement], locked: dict[str, str]) -> None:
    unfit = [
        f"{bound} against {version}"
        for bound, one in needed.items()
        if (version := locked.get(canonicalize_name(one.name)))
        and not one.specifier.contains(version, prereleases=True)
    ]  # fmt: skip

    assert unfit == [], AGAIN


def test_versions_are_locked_for_every_python_that_we_support(
    script: ModuleType, project: dict[str, list[str]]
) -> None:
    promised = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))

    assert list(script.PYTHONS) == promised


def test_an_installed_wheel_is_not_held_to_the_lock(project: dict[str, list[str]]) -> None:
    assert [line for line in project["dependencies"] if "==" in line] == []


def test_whatever_installs_packages_here_uses_the_lock(root: Path) -> None:
    files = [root / "Makefile", *(root / "scripts").iterdir(), *(root / ".github" / "workflows").iterdir()]

    free = [
        f"{file.relative_to(root)}: {found[0]}"
        for file in files
        if file.is_file() and file.relative_to(root).as_posix() not in UNLOCKED
        for found in INSTALL.finditer(file.read_text(encoding="utf-8"))
        if not re.search(r"\W-c\W", found["rest"])
    ]

    assert free == [], "add -c constraints.txt"
