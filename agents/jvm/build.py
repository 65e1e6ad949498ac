#!/usr/bin/env python3
"""Builds the agent for JVMs into the package: javac against the JavaFX API, packed so that two builds are equal bytes.

`python agents/jvm/build.py [OUTPUT]`; JavaFX's jars are looked for in JAVAFX_LIB and where distributions put them.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
OUTPUT = HERE.parents[1] / "src" / "ui_mcp" / "bundle" / "agents" / "javafx-agent.jar"
PLACES = ("/usr/share/openjfx/lib", "/usr/lib/jvm/openjfx/lib", "/usr/share/java/openjfx/jre/lib")
MODULES = ("base", "graphics", "controls")
EPOCH = (1980, 1, 1, 0, 0, 0)
MANIFEST = """Manifest-Version: 1.0
Premain-Class: uimcp.boot.Boot
Agent-Class: uimcp.boot.Boot

"""


class MissingToolError(Exception):
    """A tool the build needs is not on this machine."""


def build(output: Path = OUTPUT) -> Path:
    """Compile and pack.

    Raises:
        MissingToolError: there is no javac, or no JavaFX to compile against.
    """
    javac = _javac()
    libraries = _javafx()
    with tempfile.TemporaryDirectory() as scratch:
        classes = Path(scratch)
        sources = sorted(str(file) for file in (HERE / "src").rglob("*.java"))
        jars = os.pathsep.join(str(libraries / f"javafx.{name}.jar") for name in MODULES)
        # Linking a concatenation takes milliseconds the first time, and would do so on the thread of the toolkit.
        options = [
            "--release",
            "11",
            "-g:none",
            "-XDstringConcat=inline",
            "-Xlint:all,-processing,-serial",
            "-classpath",
            jars,
            "-d",
            scratch,
        ]
        subprocess.run([javac, *options, *sources], check=True, stdout=sys.stderr)
        output.parent.mkdir(parents=True, exist_ok=True)
        _pack(classes, output)
    return output


def require_tools() -> None:
    """Look for everything the build needs.

    Raises:
        MissingToolError: names what is missing.
    """
    _javac()
    _javafx()


def _pack(classes: Path, output: Path) -> None:
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as jar:
        _add(jar, "META-INF/MANIFEST.MF", MANIFEST.encode())
        names = sorted(file.relative_to(classes).as_posix() for file in classes.rglob("*.class"))
        _add(jar, "agent/classes", "\n".join(name for name in names if not name.startswith("uimcp/boot/")).encode())
        for name in names:
            # Boot defines the rest with a loader of its own; as ordinary classes the program's loader would find them.
            _add(jar, name if name.startswith("uimcp/boot/") else f"agent/{name}", (classes / name).read_bytes())


def _add(jar: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    entry.create_system = 3
    jar.writestr(entry, content)


def _javac() -> str:
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("javac", path=f"{home}/bin") if home else None
    found = found or shutil.which("javac")
    if found is None:
        raise MissingToolError("Building the JavaFX agent needs javac (JDK 11 or newer), which is not here.")
    return found


def _javafx() -> Path:
    for place in (os.environ.get("JAVAFX_LIB"), *PLACES):
        if place and all((Path(place) / f"javafx.{name}.jar").is_file() for name in MODULES):
            return Path(place)
    raise MissingToolError(
        "Building the JavaFX agent needs the jars of JavaFX 11 or newer: install openjfx (Debian, Ubuntu),\n"
        "or set JAVAFX_LIB to the folder that holds javafx.base.jar, javafx.graphics.jar and javafx.controls.jar."
    )


if __name__ == "__main__":
    try:
        sys.stdout.write(f"{build(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else OUTPUT)}\n")
    except (MissingToolError, subprocess.CalledProcessError) as error:
        sys.exit(str(error))
