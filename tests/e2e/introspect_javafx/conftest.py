"""JavaFX programs in every launch shape."""

import subprocess
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest

from introspection.cells import CELLS, cell
from introspection.demos import DEBIAN_JAVAFX, JAVA_OPTIONS, ROOT, Cell, compiled, debian_cell, display


@dataclass(frozen=True)
class Programs:
    """Compiled demos and the commands that start them."""

    cell: Cell
    classes: Path
    module: Path
    launch: Path

    def command(self, shape: str, *options: str) -> list[str]:
        """Return the command line of a launch shape."""
        fx = self.cell.modules
        jars = [str(fx / f"javafx.{name}.jar") for name in ("base", "graphics", "controls")]
        java = [self.cell.java, *JAVA_OPTIONS, *self.cell.options, *options]
        both = f"{self.launch}:{self.classes}"
        match shape:
            case "class path":
                return [*java, "-cp", ":".join([both, *jars]), "Launch", "plain", "", "Demo"]
            case "named modules":
                return [*java, "-p", f"{fx}:{self.module}", "-m", "demo/demo.Demo"]
            case "mixed":
                return [*java, "-p", str(fx), "--add-modules", "javafx.controls", "-cp", str(self.classes), "Demo"]
            case "module layer":
                return [*java, "-cp", str(self.launch), "Launch", "layer", f"{fx}:{self.module}", "demo.Demo"]
            case "isolated loader":
                paths = ":".join([f"{self.classes}/", *jars])
                return [*java, "-cp", str(self.launch), "Launch", "loader", paths, "Demo"]
            case _:
                return [*java, "-cp", str(self.launch), "Launch", "sleep", ""]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def screen() -> AsyncIterator[str]:
    debian_cell()
    async with display() as name:
        yield name


@pytest.fixture(scope="module", params=[CELLS[0], *CELLS[3:]])
async def programs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Programs:
    return await anyio.to_thread.run_sync(build, cell(request.param), tmp_path_factory.mktemp("programs"))


def build(cell: Cell, folder: Path) -> Programs:
    """Compile the demo as classes and as a named module, and the launcher."""
    sources = folder / "sources" / "demo"
    sources.mkdir(parents=True)
    demo = (ROOT / "examples/javafx/Demo.java").read_text()
    (sources / "Demo.java").write_text(f"package demo;\n{demo}")
    (sources.parent / "module-info.java").write_text("module demo { requires javafx.controls; exports demo; }")
    modular = [str(sources.parent / "module-info.java"), str(sources / "Demo.java")]
    javac = ["javac", "--release", "11"]
    subprocess.run([*javac, "-p", str(DEBIAN_JAVAFX), "-d", str(folder / "module"), *modular], check=True)
    launch = str(Path(__file__).with_name("Launch.java"))
    subprocess.run([*javac, "-d", str(folder / "launch"), launch], check=True)
    return Programs(cell, compiled(folder), folder / "module", folder / "launch")
