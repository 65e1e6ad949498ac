"""Writes constraints.txt: one exact version of every package that ui-mcp, its extras and its tools may need.

`make lock` runs it. pip resolves for the oldest Python that we support, so that one version serves every Python. pip
evaluates environment markers for the machine it runs on; packages that only another platform or Python needs are
therefore found here, from the metadata that pip reports, and requested by name in another round. Whether each version
has a wheel for each platform is read from the pages of the package index, without downloading the wheels.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from packaging.requirements import Requirement
from packaging.tags import Tag, compatible_tags, cpython_tags, mac_platforms
from packaging.utils import canonicalize_name, parse_wheel_filename

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "constraints.txt"
HEADER = """\
# One exact version of every package that ui-mcp, its extras and its development tools need on any platform.
# Written by `make lock`, used by every `pip install -c constraints.txt` here; installing a released wheel does not
# read it.
"""
PYTHONS = ("3.11", "3.12", "3.13")
TOOLS = ("pip-audit", "pyinstaller", "uv")
"""Installed by scripts/audit.py, scripts/release.py and tests into separate environments."""
WITHOUT_WHEELS = ("forbiddenfruit", "http-ece")
"""Published as sources alone and built here, because pip resolves for other platforms from wheels only."""
TAGS = {
    "linux": (
        *(f"manylinux_2_{minor}_x86_64" for minor in range(28, 4, -1)),
        *(f"manylinux{old}_x86_64" for old in ("2014", "2010", "1")),
    ),
    "darwin": tuple(mac_platforms((15, 0), "arm64")),
    "win32": ("win_amd64",),
}
"""Wheels to accept for each platform, by `sys.platform`."""
PIP_PLATFORMS = (
    "manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64", "macosx_15_0_arm64", "win_amd64",
)  # fmt: skip
"""The same for pip, which adds the older macOS versions itself."""
INDEX = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/")
_DOWNLOADS = 16
_MARKERS = {
    "linux": {"os_name": "posix", "platform_system": "Linux", "platform_machine": "x86_64"},
    "darwin": {"os_name": "posix", "platform_system": "Darwin", "platform_machine": "arm64"},
    "win32": {"os_name": "nt", "platform_system": "Windows", "platform_machine": "AMD64"},
}

Environment = Mapping[str, str]
Metadata = Mapping[str, Mapping[str, Any]]


class LockError(Exception):
    """The versions cannot be locked."""


def environments() -> list[Environment]:
    """Return the marker variables of every Python on every platform."""
    return [
        {
            **markers,
            "sys_platform": platform,
            "python_version": python,
            "python_full_version": f"{python}.0",
            "implementation_version": f"{python}.0",
            "implementation_name": "cpython",
            "platform_python_implementation": "CPython",
            "platform_release": "",
            "platform_version": "",
        }
        for platform, markers in _MARKERS.items()
        for python in PYTHONS
    ]


def roots(root: Path = ROOT) -> list[Requirement]:
    """Return the requirements of pyproject.toml, including all extras and the build backend, and the other tools."""
    pyproject = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    project = pyproject["project"]
    extras = [line for lines in project["optional-dependencies"].values() for line in lines]
    lines = [*project["dependencies"], *extras, *pyproject["build-system"]["requires"], *TOOLS]
    # An extra may name another one of ours, which is in the list already.
    return [one for line in lines if (one := Requirement(line)).name != project["name"]]


def needed(wanted: Iterable[Requirement], known: Metadata, environment: Environment) -> Iterator[Requirement]:
    """Yield every requirement that applies in an environment, as far as the metadata of packages is known."""
    waiting = list(wanted)
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        requirement = waiting.pop()
        if requirement.marker is not None and not requirement.marker.evaluate(dict(environment)):
            continue
        yield requirement
        name = canonicalize_name(requirement.name)
        key = (name, frozenset(requirement.extras))
        if key not in seen and name in known:
            seen.add(key)
            waiting += _dependencies(known[name], requirement.extras, environment)


def _dependencies(metadata: Mapping[str, Any], extras: set[str], environment: Environment) -> Iterator[Requirement]:
    for line in metadata.get("requires_dist", []):
        requirement = Requirement(line)
        marker = requirement.marker
        requirement.marker = None
        if marker is None or any(marker.evaluate({**environment, "extra": extra}) for extra in ("", *extras)):
            yield requirement


def resolve(wanted: list[Requirement]) -> dict[str, Mapping[str, Any]]:
    """Return the metadata of every package of the lock, by name.

    Raises:
        LockError: pip found no compatible versions for one of the platforms.
    """
    requested = {_without_marker(one) for one in wanted}
    while True:
        print(f"Resolving {len(requested)} requirements…", file=sys.stderr)
        known = _report(sorted(requested), PYTHONS[0])
        holding = [one for environment in environments() for one in needed(wanted, known, environment)]
        missing = {_without_marker(one) for one in holding if canonicalize_name(one.name) not in known}
        if not missing:
            break
        requested |= missing
    unfit = [f"{one} against {_version(one, known)}" for one in holding if not _admits(one, known)]
    if unfit:
        raise LockError("No single version fits every Python and platform: " + "; ".join(sorted(set(unfit))))
    return known


def require_wheels(wanted: list[Requirement], known: Metadata) -> None:
    """Check that the oldest and the newest Python have a wheel of each version they need, on every platform.

    Raises:
        LockError: a wheel is missing; the message names it.
    """
    print(f"Looking for wheels of {len(known)} packages…", file=sys.stderr)
    with ThreadPoolExecutor(_DOWNLOADS) as pool:
        wheels = dict(zip(known, pool.map(lambda name: wheel_tags(name, known[name]["version"]), known), strict=True))
    missing = {
        f"{name} {known[name]['version']} (Python {environment['python_version']}, {environment['sys_platform']})"
        for environment in environments()
        if environment["python_version"] in {PYTHONS[0], PYTHONS[-1]}
        for name in {canonicalize_name(one.name) for one in needed(wanted, known, environment)} - set(WITHOUT_WHEELS)
        if not wheels[name] & accepted_tags(environment)
    }
    if missing:
        raise LockError("There is no wheel of: " + "; ".join(sorted(missing)))


def accepted_tags(environment: Environment) -> frozenset[Tag]:
    """Return the tags of the wheels that one Python on one platform can install."""
    major, minor = map(int, environment["python_version"].split("."))
    platforms = TAGS[environment["sys_platform"]]
    both = (cpython_tags((major, minor), platforms=platforms), compatible_tags((major, minor), None, platforms))
    return frozenset(tag for tags in both for tag in tags)


def wheel_tags(name: str, version: str) -> frozenset[Tag]:
    """Return the tags of all wheels of a version on the index."""
    request = Request(f"{INDEX}/{name}/", headers={"accept": "text/html"})  # noqa: S310 - an index that pip uses
    with urlopen(request, timeout=60) as page:  # noqa: S310
        files = re.findall(r">([^<>]+\.whl)</a>", page.read().decode("utf-8", "replace"))
    found = [parse_wheel_filename(file) for file in files if f"-{version}-" in file]
    return frozenset(tag for _, _, _, tags in found for tag in tags)


def _report(requirements: list[str], python: str) -> dict[str, Mapping[str, Any]]:
    """Run pip's resolver without installing; return the metadata of the resolved packages, by name."""
    with tempfile.TemporaryDirectory() as folder:
        listed, report = Path(folder) / "requirements.txt", Path(folder) / "report.json"
        listed.write_text("\n".join(requirements), encoding="utf-8")
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
        subprocess.run([*pip, "wheel", "--quiet", "--no-deps", f"--wheel-dir={folder}", *WITHOUT_WHEELS], check=True)
        accepted = [
            f"--find-links={folder}",
            "--only-binary=:all:",
            f"--python-version={python}",
            *(f"--platform={one}" for one in PIP_PLATFORMS),
        ]
        command = [
            *pip, "install", "--progress-bar=off", "--dry-run", "--ignore-installed",
            f"--target={folder}/none", f"--report={report}", *accepted, "--requirement", str(listed),
        ]  # fmt: skip
        if subprocess.run(command, check=False, stdout=sys.stderr).returncode:
            raise LockError(f"pip found no versions that fit together for Python {python}")
        installs = json.loads(report.read_text(encoding="utf-8"))["install"]
    return {canonicalize_name(one["metadata"]["name"]): one["metadata"] for one in installs}


def _without_marker(requirement: Requirement) -> str:
    bare = Requirement(str(requirement))
    bare.marker = None
    return str(bare)


def _version(requirement: Requirement, known: Metadata) -> str:
    return str(known[canonicalize_name(requirement.name)]["version"])


def _admits(requirement: Requirement, known: Metadata) -> bool:
    return requirement.specifier.contains(_version(requirement, known), prereleases=True)


def main() -> int:
    wanted = roots()
    try:
        known = resolve(wanted)
        require_wheels(wanted, known)
    except LockError as error:
        print(error, file=sys.stderr)
        return 1
    lines = "".join(f"{name}=={metadata['version']}\n" for name, metadata in sorted(known.items()))
    LOCK.write_text(HEADER + lines, encoding="utf-8")
    print(f"{LOCK.name}: {len(known)} packages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
