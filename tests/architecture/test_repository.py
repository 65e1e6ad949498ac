"""Rules for the repository as a whole."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)[^)]*\)")


def test_no_file_names_a_path_of_the_machine_it_was_written_on(tracked: list[Path], root: Path) -> None:
    places = {str(root), str(Path.home() / "."), sys.prefix} - {"/", "/root"}

    named = [
        str(file.relative_to(root))
        for file in tracked
        for place in places
        if place.encode() in file.read_bytes()
    ]  # fmt: skip

    assert named == []


def test_the_lock_file_names_no_registry_and_every_platform(root: Path) -> None:
    lock = root / "web" / "package-lock.json"
    if not lock.is_file():
        pytest.fail("web/package-lock.json is missing")
    packages = json.loads(lock.read_text())["packages"]

    addressed = [name for name, entry in packages.items() if "resolved" in entry]
    missing = [
        dependency
        for entry in packages.values()
        for dependency in entry.get("optionalDependencies", {})
        if f"node_modules/{dependency}" not in packages
    ]

    assert addressed == []
    assert missing == [], "`npm ci` refuses a lock file without them"


@pytest.mark.parametrize("name", ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_between_documents_lead_somewhere(root: Path, name: str) -> None:
    links = [target for target in LINK.findall((root / name).read_text()) if not target.startswith("http")]

    assert [target for target in links if not (root / target).exists()] == []


def test_the_places_to_add_things_exist(root: Path) -> None:
    table = (root / "CONTRIBUTING.md").read_text().split("## To add a")[1].split("##")[0]
    places = re.findall(r"^\| [^|]+ \| `([^`]+)`", table, re.MULTILINE)

    assert len(places) > 10
    assert [place for place in places if not (root / place).parent.is_dir()] == []


def test_the_layers_are_drawn_as_they_are_enforced(root: Path) -> None:
    contracts = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    drawing = (root / "ARCHITECTURE.md").read_text().split("```")[1].strip().splitlines()

    assert [re.split(r"  +", line)[0] for line in drawing] == contracts[0]["layers"]


def test_the_gate_is_what_a_person_runs(root: Path) -> None:
    assert "exec make ci" in (root / ".ci" / "run").read_text()
    recipe = re.search(r"^ci: test-setup\b.*\n((?:\t.*\n)+)", (root / "Makefile").read_text(), re.MULTILINE)
    assert recipe is not None
    assert re.findall(r"\$\(MAKE\) --no-print-directory (\w+)", recipe[1]) == ["check", "test"]


@pytest.mark.parametrize("target", ["test", "e2e", "bench", "soak", "crash", "release", "ci"])
def test_packages_come_before_tools_and_tools_before_assets(root: Path, tmp_path: Path, target: str) -> None:
    bare = shutil.copytree(root / "scripts", tmp_path / "scripts").parent
    for name in ("Makefile", "pyproject.toml", "hatch_build.py"):
        shutil.copy(root / name, bare)

    said = subprocess.run(["make", "-n", "-j4", target], cwd=bare, capture_output=True, text=True, check=True).stdout

    steps = [said.index(step) for step in ("system-packages test", "--editable '.[dev]'", "assets.py all")]
    assert steps == sorted(steps)


@pytest.mark.parametrize(
    "target", ["run", "test", "coverage", "quick", "check", "e2e", "bench", "web", "agent", "release", "ci"]
)
def test_make_help_explains_each_target(root: Path, target: str) -> None:
    assert re.search(rf"^{target}:.*## \S", (root / "Makefile").read_text(), re.MULTILINE)
