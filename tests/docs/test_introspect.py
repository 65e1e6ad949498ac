"""A person attaches a JavaFX program and pages, as the page on introspection says; the screenshot shows them."""

import re

import anyio
import pytest

from docs.blocks import ROOT, Block, block, together
from docs.terminal import Terminal
from integration.lineclient import LineClient
from introspection.demos import debian_cell, debugged_chromium, display, running

PAGE = "docs/introspect.md"


@pytest.mark.slow
@together("run", block(PAGE, "javac -d"), block(PAGE, "ui-mcp attach 4711"))
async def test_the_demo_is_compiled_started_and_attached(
    given: tuple[Block, Block], terminal: Terminal, service: str
) -> None:
    debian_cell()
    demo, attaching = given
    terminal.replaced |= {"/tmp/demo": str(terminal.home), "examples/javafx": str(ROOT / "examples/javafx")}
    compiling, starting = demo.commands
    terminal.run(compiling)
    java = starting.replace("/tmp/demo", str(terminal.home)).replace("java ", "java -Dprism.order=sw ", 1)
    chromium = debugged_chromium(terminal.home / "profile", "about:blank")
    async with display() as screen, running(java.split(), screen) as pid, chromium as browser:
        terminal.replaced |= {
            "4711": str(pid),
            "https://example.org": service,
            "http://127.0.0.1:9222": browser["http"],
        }
        said = [await anyio.to_thread.run_sync(terminal.run, line) for line in attaching.commands[:-1]]
        targets = await anyio.to_thread.run_sync(seen_by_an_agent, terminal)
        forgotten = await anyio.to_thread.run_sync(terminal.run, attaching.commands[-1])

    assert f"{pid}  JavaFX  Demo" in said[0]
    assert said[1] == f'Attached Demo as target "javafx-{pid}".\n'
    assert said[4].startswith("-javaagent:")
    assert targets == {"page", "browser", f"javafx-{pid}", "url", "cdp"}
    assert forgotten == f"Detached: javafx-{pid}\n"


def seen_by_an_agent(terminal: Terminal) -> set[str]:
    """Look at the program and return what else could be looked at."""
    with LineClient(cwd=terminal.folder, **terminal.environment) as agent:
        assert '#okButton "OK"' in agent.call("ui_get_snapshot", target="javafx")
        return {entry["id"] for entry in agent.call("ui_targets")["targets"]}


@together("compared", block(PAGE, "tools ── targets"))
def test_the_picture_names_modules_that_exist(given: tuple[Block]) -> None:
    source = ROOT / "src/ui_mcp"
    picture = re.sub(r"\(.*?\)|all pure.*|backend:", "", given[0].code)

    for name in re.findall(r"[a-z_]+", picture):
        places = (source, source / "introspection", source / "introspection/backends")
        assert any((folder / name).is_dir() or (folder / f"{name}.py").is_file() for folder in places), name
