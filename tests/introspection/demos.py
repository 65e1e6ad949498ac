"""Opens the demo application of the contract suite in each toolkit."""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest
from anyio.streams.text import TextReceiveStream

from needs import missing
from ui_mcp.errors import IntrospectError
from ui_mcp.introspection.arguments import Action, Selector
from ui_mcp.introspection.contract import CaptureRequest
from ui_mcp.introspection.perform import ActionBatch, BatchResult, perform
from ui_mcp.introspection.target import Target
from ui_mcp.introspection.tree import Node
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.validation import read

PATIENCE = 30.0
"""Seconds a demo may take for anything: on a busy machine the usual limits are too short."""


def failure(outcome: BatchResult) -> IntrospectError:
    """Return the error that ended a batch."""
    assert outcome.error is not None
    return outcome.error


@dataclass(frozen=True)
class Demo:
    """A running demo and the words its toolkit uses."""

    kind: str
    target: Target
    types: dict[str, str]

    async def one(self, css: str) -> Node:
        """Return the only node a selector means."""
        found = await self.find(css=css)
        assert len(found) == 1, [node.path for node in found]
        return found[0]

    async def find(self, **selector: Json) -> list[Node]:
        ask = CaptureRequest(
            stage="all",
            sections=frozenset({"bounds", "virtualization"}),
            css=selector.get("css"),
            internals="css" in selector,
        )
        return await self.target.find(read(Selector, selector), ask)

    async def uid(self, css: str) -> str:
        return (await self.one(css)).uid

    async def said(self) -> str:
        """Return what the status line says."""
        return str((await self.one("#status")).record.get("l", ""))

    async def do(self, *actions: JsonObject, **options: Json) -> BatchResult:
        made = [read(Action, action) for action in actions]
        return await perform(self.target, ActionBatch(made, **{"timeout_ms": int(PATIENCE * 1000), **options}))

    async def click(self, css: str, **options: Json) -> BatchResult:
        return await self.do({"type": "click", "target": await self.uid(css), **options})


def needs(tool: str) -> None:
    if shutil.which(tool) is None:
        missing(tool)


WEB_TYPES = {"field": "input", "button": "button", "label": "label", "role": "BUTTON", "root": "body"}


@asynccontextmanager
async def browser_demo(page: Path) -> AsyncIterator[Demo]:
    from ui_mcp.introspection.backends.chromium.browser import BrowserBackend

    needs("chromium")
    backend = await BrowserBackend.launch(page.as_uri())
    try:
        yield Demo("browser", Target("browser", backend, seconds=PATIENCE), WEB_TYPES)
    finally:
        await backend.close()


@asynccontextmanager
async def debugged_chromium(profile: Path, page: str) -> AsyncIterator[dict[str, str]]:
    """Run a browser that shows `page` and listens for a debugger; yield its two addresses by their schemes."""
    from ui_mcp.introspection.backends.chromium.transports import ARGUMENTS

    needs("chromium")
    quiet = ["--no-sandbox", *(argument for argument in ARGUMENTS if argument != "--no-startup-window")]
    command = ["chromium", *quiet, "--remote-debugging-port=0", f"--user-data-dir={profile}", page]
    process = await anyio.open_process(command, stdout=subprocess.DEVNULL, start_new_session=True)
    said = ""
    try:
        with anyio.fail_after(60):
            assert process.stderr is not None
            async for text in TextReceiveStream(process.stderr):
                said += text
                if found := re.search(r"listening on (ws://([\w.:]+)/\S+)\s", said):
                    break
            else:
                pytest.fail(f"Chromium ended early:\n{said}")
        yield {"ws": found[1], "http": f"http://{found[2]}"}
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.aclose()


@asynccontextmanager
async def page_demo(page: Path) -> AsyncIterator[Demo]:
    """Open the demo as a person would have it open: the page answers by script alone."""
    from playwright.async_api import async_playwright

    from ui_mcp.introspection.backends.chromium.launch import script
    from ui_mcp.introspection.backends.open_page import OpenPage, PageBackend

    needs("chromium")
    async with async_playwright() as playwright:
        options = ["--no-sandbox", "--disable-gpu"]
        browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"), args=options)
        opened = await browser.new_page(viewport={"width": 1280, "height": 800})
        await opened.goto(page.as_uri())
        await opened.evaluate(f"{script()}; globalThis.eyes = uiMcpIntrospect.create('a'); 0")

        async def ask(request: str) -> str:
            return str(await opened.evaluate("request => eyes.call(request)", request))

        backend = PageBackend(lambda: OpenPage(ask, page.as_uri(), os.getpid()))
        yield Demo("page", Target("page", backend, seconds=PATIENCE), WEB_TYPES)
        await browser.close()


ROOT = Path(__file__).parents[2]
DEBIAN_JAVAFX = Path("/usr/share/openjfx/lib")
JAVA_OPTIONS = ("-Xshare:auto", "-XX:TieredStopAtLevel=4", "-Dprism.order=sw")


@dataclass(frozen=True)
class Cell:
    """One pair of JDK and JavaFX."""

    name: str
    java: str = "java"
    modules: Path = DEBIAN_JAVAFX
    options: tuple[str, ...] = ()


def debian_cell() -> Cell:
    """Return JavaFX 11 on JDK 17, as Debian has them."""
    needs("java")
    needs("javac")
    needs("Xvfb")
    if not DEBIAN_JAVAFX.is_dir():
        missing("JavaFX (openjfx)")
    return Cell("fx11-jdk17")


DEMO = ROOT / "examples" / "javafx" / "Demo.java"


def compiled(folder: Path, source: Path = DEMO) -> Path:
    """Compile a program and, if it is not there, the agent."""
    classes = folder / "demo-classes"
    modules = ["--module-path", str(DEBIAN_JAVAFX), "--add-modules", "javafx.controls,javafx.swing"]
    subprocess.run(["javac", "--release", "11", "-d", str(classes), *modules, str(source)], check=True)
    if not (ROOT / "src/ui_mcp/bundle/agents/javafx-agent.jar").is_file():
        subprocess.run(["python3", str(ROOT / "agents/jvm/build.py")], check=True)
    return classes


def display_command(writing: int) -> list[str]:
    """Return the command of a display that writes its number to an open file."""
    # Without -noreset it starts afresh when the last program ends, and the next one may come in the middle of that.
    return ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1280x1024x24", "-nolisten", "tcp", "-noreset"]


@asynccontextmanager
async def display() -> AsyncIterator[str]:
    """Run a display of our own."""
    reading, writing = os.pipe()
    process = await anyio.open_process(
        display_command(writing), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=[writing]
    )
    os.close(writing)
    with os.fdopen(reading) as pipe:
        number = (await anyio.to_thread.run_sync(pipe.readline)).strip()
    try:
        yield f":{number}"
    finally:
        process.terminate()
        await process.wait()


@asynccontextmanager
async def running(command: list[str], screen: str) -> AsyncIterator[int]:
    """Run a Java program until it says READY, and end it afterwards."""
    environment = {**os.environ, "DISPLAY": screen}
    process = await anyio.open_process(command, env=environment, stderr=subprocess.STDOUT)
    said = ""
    try:
        with anyio.fail_after(4 * PATIENCE):
            assert process.stdout is not None
            async for text in TextReceiveStream(process.stdout):
                said += text
                if "READY" in said:
                    break
            else:
                pytest.fail(f"the program ended early:\n{said}")
        yield process.pid
    finally:
        if process.returncode is None:
            process.kill()
        await process.aclose()


def class_path_command(cell: Cell, classes: Path, *options: str, main: str = "Demo") -> list[str]:
    """Return the command that starts a program with JavaFX on the module path and itself on the class path."""
    modules = ["--module-path", str(cell.modules), "--add-modules", "javafx.controls"]
    return [cell.java, *JAVA_OPTIONS, *cell.options, *options, *modules, "-cp", str(classes), main]


SWING_TYPES = {"field": "JTextField", "button": "JButton", "label": "JLabel", "role": "BUTTON", "root": "JRootPane"}


@asynccontextmanager
async def swing_demo(folder: Path) -> AsyncIterator[Demo]:
    from ui_mcp.introspection.backends.javafx import JavaFxBackend

    needs("java")
    needs("javac")
    needs("Xvfb")
    source = ROOT / "examples" / "swing" / "Demo.java"
    command = ["javac", "--release", "11", "-d", str(folder), str(source)]
    await anyio.to_thread.run_sync(lambda: subprocess.run(command, check=True))
    async with display() as screen, running(["java", "-Xshare:auto", "-cp", str(folder), "Demo"], screen) as pid:
        backend = await JavaFxBackend.attach(pid)
        try:
            yield Demo("swing", Target("swing", backend, seconds=PATIENCE), SWING_TYPES)
        finally:
            await backend.close()


FX_TYPES = {"field": "TextField", "button": "Button", "label": "Label", "role": "BUTTON", "root": "VBox"}


@asynccontextmanager
async def window_manager(screen: str) -> AsyncIterator[None]:
    """Run a window manager, which the real pointer needs."""
    needs("openbox")
    reading, writing = os.pipe()
    command = ["openbox", "--startup", f"sh -c 'echo ready >/proc/{os.getpid()}/fd/{writing}'"]
    process = await anyio.open_process(command, env={**os.environ, "DISPLAY": screen}, stderr=subprocess.DEVNULL)
    with os.fdopen(reading) as pipe:
        await anyio.to_thread.run_sync(pipe.readline)
    os.close(writing)
    try:
        yield
    finally:
        process.kill()
        await process.aclose()


@asynccontextmanager
async def javafx_demo(
    cell: Cell, folder: Path, *options: str, managed: bool = False, source: Path = DEMO
) -> AsyncIterator[Demo]:
    from ui_mcp.introspection.backends.javafx import JavaFxBackend

    classes = await anyio.to_thread.run_sync(compiled, folder, source)
    async with (
        display() as screen,
        window_manager(screen) if managed else nullcontext(),
        running(class_path_command(cell, classes, *options, main=source.stem), screen) as pid,
    ):
        backend = await JavaFxBackend.attach(pid)
        try:
            yield Demo("javafx", Target("javafx", backend, seconds=PATIENCE), FX_TYPES)
        finally:
            await backend.close()
