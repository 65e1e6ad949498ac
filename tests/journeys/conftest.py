"""Every journey uses the wheel, installed where neither the source tree nor Node nor Java is found."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import pytest
from playwright.sync_api import Browser, Page

from chromium import launched
from journeys.story import ROOT, Story

KEPT = ("PIP_", "SSL_", "HTTP", "http", "REQUESTS_")


class Person:
    """Someone who installed the wheel and works in an empty directory."""

    def __init__(self, programs: Path, home: Path) -> None:
        self.home = home
        self.programs = programs
        self.environment = {
            "PATH": f"{programs}:/usr/bin:/bin",
            "HOME": str(home),
            "LANG": "C.UTF-8",
        }

    def run(self, *words: str, timeout: float = 300) -> str:
        """Run a command to its end and return what it printed."""
        done = subprocess.run(
            [str(self.programs / words[0]), *words[1:]],
            cwd=self.home, env=self.environment, capture_output=True, text=True, timeout=timeout, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @contextmanager
    def start(self, *words: str) -> Iterator[subprocess.Popen[str]]:
        """Run a command that goes on, with pipes on both ends; end it afterwards."""
        with subprocess.Popen(
            [str(self.programs / words[0]), *words[1:]],
            cwd=self.home, env=self.environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=(self.home / "stderr.log").open("w"),
        ) as process:  # fmt: skip
            try:
                yield process
            finally:
                process.terminate()
                process.wait(timeout=120)


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that holds the wheel and what it needs."""
    folder = tmp_path_factory.mktemp("wheel")
    environment = {name: value for name, value in os.environ.items() if name.startswith(KEPT)}
    done(sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT), environment=dict(os.environ))
    done(sys.executable, "-m", "venv", str(folder / "venv"), environment=environment)
    programs = folder / "venv" / "bin"
    environment |= {"PATH": str(programs), "HOME": os.environ.get("HOME", "/")}
    wheel = next(folder.glob("*.whl"))
    done(str(programs / "pip"), "install", "--quiet", str(wheel), environment=environment)
    return programs


def done(*words: str, environment: dict[str, str]) -> None:
    result = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=800, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.fixture
def person(programs: Path, tmp_path: Path) -> Person:
    """A new user, in an empty directory."""
    return Person(programs, tmp_path)


class Telling(Protocol):
    """Opens the page of a journey."""

    def __call__(self, name: str) -> Story:
        """Open it by name."""


@pytest.fixture
def tell(tmp_path: Path) -> Iterator[Telling]:
    """Begin a page; it is compared with docs/journeys when the journey has gone well."""
    stories: list[Story] = []

    def begin(name: str) -> Story:
        stories.append(Story(name, tmp_path))
        return stories[-1]

    yield begin
    for story in stories:
        story.finish()


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """One browser for all journeys."""
    with launched() as browser:
        yield browser


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """A page whose console must stay clean."""
    page = chromium.new_page(viewport={"width": 900, "height": 560})
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    yield page
    page.close()
    assert problems == []
