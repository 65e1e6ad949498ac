"""Tools that operate pages, driven alike: ours, playwright-mcp, agent-browser in two ways; each counts its costs."""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from introspect_pages import CHROMIUM, PEERS, Server, said

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from miniwob_tasks.outline import Line, Page

START = "#sync-task-cover"


@dataclass(frozen=True, slots=True)
class Node:
    """Something that a tool shows: its kind, its text and how to name it."""

    kind: str
    text: str
    ref: str


def keep(label: str, asked: str, answered: str) -> None:
    """Append a call to the file of its tool, if `KEEP_TRANSCRIPTS` names a folder."""
    if folder := os.environ.get("KEEP_TRANSCRIPTS"):
        with Path(folder, f"{label}.txt").open("a") as file:
            file.write(f">>> {asked}\n{answered}\n")


Step = tuple[str, Node, str]
"""`click`, `fill` or `select`, a node, and a text."""


class Driver(Protocol):
    """A tool that shows pages and operates them; it counts what goes through a model."""

    calls: int
    characters: int

    def reset(self) -> None: ...
    def start(self, url: str) -> list[Node]: ...
    def act(self, *steps: Step, look: bool = False) -> list[Node]: ...
    def close(self) -> None: ...


@dataclass(slots=True)
class Ours:
    """ui-mcp: several actions and what they changed in one call."""

    server: Server
    calls: int = 0
    characters: int = 0

    def reset(self) -> None:
        self.calls = self.characters = 0

    def start(self, url: str) -> list[Node]:
        return self._perform(f"navigate {url}\nclick {START}", "brief")

    def act(self, *steps: Step, look: bool = False) -> list[Node]:
        return self._perform("\n".join(map(_our_action, steps)), "diff" if look else None)

    def close(self) -> None:
        self.server.close()

    def _perform(self, actions: str, observe: str | None) -> list[Node]:
        given = {"do": actions, **({"observe": observe} if observe else {})}
        text = self.server.call("ui_perform", **given)
        self.calls += 1
        self.characters += len(json.dumps(given)) + len(text)
        keep("ours", json.dumps(given), text)
        page = Page.read(text)
        return [node for line in page.lines if "hidden" not in line.states for node in _our_nodes(line)]


def _our_action(step: Step) -> str:
    kind, node, text = step
    return f"click {node.ref}" if kind == "click" else f"{'setText' if kind == 'fill' else kind} {node.ref} {text}"


def _our_nodes(line: Line) -> list[Node]:
    kinds = {
        "button": "button",
        "a": "link",
        "select": "select",
        "h3[tab]": "tab",
        "td": "cell",
        "th": "cell",
        "tr": "cell",
        "textarea": "input",
    }
    kind = kinds.get(line.kind, "text")
    if line.kind == "input":
        kind = "box" if line.states & {"checked", "unchecked"} or line.text else "input"
    return [Node(kind, text, line.uid) for text in line.texts or ("",)]


_ROLES = {
    "button": "button", "textbox": "input", "spinbutton": "input", "searchbox": "input", "checkbox": "box",
    "radio": "box", "combobox": "select", "listbox": "select", "link": "link", "tab": "tab", "cell": "cell",
    "columnheader": "cell", "rowheader": "cell", "gridcell": "cell", "Date": "input", "InputTime": "input",
}  # fmt: skip
_TREE = re.compile(
    r'^\s*- (?P<role>\w+)(?: "(?P<name>(?:\\"|[^"])*)")?(?P<marks>(?: \[[^\]]*\])*)(?:: (?P<text>.*)|:)?$'
)


_CLICKABLE = re.compile(r"^\s*- generic \[ref=(\w+)\] clickable")


def tree(text: str) -> list[Node]:
    """Read an accessibility tree as both others write it; a text directly below something clickable has its ref."""
    found: list[Node] = []
    above = ""
    for line in text.splitlines():
        if clickable := _CLICKABLE.match(line):
            above = clickable[1]
            continue
        # YAML quotes a line with a special character in it.
        match = _TREE.match(re.sub(r"^(\s*- )'(.*)'(:?.*)$", r"\1\2\3", line))
        if match is None:
            continue
        ref = re.search(r"ref=(\w+)", match["marks"] or "")
        label = match["name"] or (match["text"] or "").strip('"')
        found.append(Node(_ROLES.get(match["role"], "text"), label.replace('\\"', '"'), ref[1] if ref else above))
        above = ""
    return found


@dataclass(slots=True)
class Playwright:
    """playwright-mcp: one action per call, several fields of a form in one."""

    server: Server
    calls: int = 0
    characters: int = 0

    def reset(self) -> None:
        self.calls = self.characters = 0

    def start(self, url: str) -> list[Node]:
        self._call("browser_navigate", url=url)
        self._call("browser_click", element="start", target=START)
        return self._look()

    def act(self, *steps: Step, look: bool = False) -> list[Node]:
        fields = [step for step in steps if step[0] == "fill"]
        if len(fields) > 1:
            entries = [
                {"target": node.ref, "name": node.text or "field", "type": "textbox", "value": text}
                for _, node, text in fields
            ]
            self._call("browser_fill_form", fields=entries)
        for kind, node, text in steps if len(fields) < 2 else [step for step in steps if step[0] != "fill"]:
            if kind == "click":
                self._call("browser_click", element=node.text or node.kind, target=node.ref)
            elif kind == "fill":
                self._call("browser_type", element=node.text or "field", target=node.ref, text=text)
            else:
                values = [given for _, at, given in steps if at is node]
                if text == values[0]:
                    self._call("browser_select_option", element="choice", target=node.ref, values=values)
        return self._look() if look else []

    def close(self) -> None:
        self.server.close()

    def _look(self) -> list[Node]:
        return tree(self._call("browser_snapshot"))

    def _call(self, tool: str, **arguments: Any) -> str:
        text = said(self.server.request("tools/call", {"name": tool, "arguments": arguments}))
        self.calls += 1
        self.characters += len(json.dumps(arguments)) + len(text)
        keep("playwright-mcp", json.dumps({"name": tool, **arguments}), text)
        return text


AGENT_BROWSER = PEERS / "node_modules/.bin/agent-browser"


def agent_browser_settings(folder: Path, session: str) -> dict[str, str]:
    """Return the variables that give agent-browser our Chromium and a session of its own."""
    return {
        "AGENT_BROWSER_EXECUTABLE_PATH": CHROMIUM,
        "AGENT_BROWSER_ARGS": "--no-sandbox",
        "AGENT_BROWSER_SESSION": f"{session}-{os.getpid()}",
        "HOME": str(folder),
    }


@dataclass(slots=True)
class AgentBrowserMcp:
    """agent-browser's own MCP server: a tool per command, none for several."""

    folder: Path
    calls: int = 0
    characters: int = 0
    server: Server = field(init=False)

    def __post_init__(self) -> None:
        settings = [f"{name}={value}" for name, value in agent_browser_settings(self.folder, "mcp").items()]
        self.server = Server(["env", *settings, str(AGENT_BROWSER), "mcp"], self.folder)

    def reset(self) -> None:
        self.calls = self.characters = 0

    def start(self, url: str) -> list[Node]:
        self._call("open", url=url)
        self._call("click", selector=START)
        return self._look()

    def act(self, *steps: Step, look: bool = False) -> list[Node]:
        for kind, node, text in steps:
            if kind == "click":
                self._call("click", selector=f"@{node.ref}")
            elif kind == "fill":
                self._call("fill", selector=f"@{node.ref}", text=text)
            else:
                values = [given for _, at, given in steps if at is node]
                if text == values[0]:
                    self._call("select", selector=f"@{node.ref}", values=values)
        return self._look() if look else []

    def close(self) -> None:
        self._call("close")
        self.server.close()

    def _look(self) -> list[Node]:
        return tree(self._call("snapshot", interactive=False))  # else without the texts

    def _call(self, command: str, **arguments: Any) -> str:
        asked = {"name": f"agent_browser_{command}", "arguments": arguments}
        text = said(self.server.request("tools/call", asked))
        self.calls += 1
        self.characters += len(json.dumps(arguments)) + len(text)
        keep("agent-browser-mcp", json.dumps({"name": command, **arguments}), text)
        return text


@dataclass(slots=True)
class AgentBrowser:
    """agent-browser: a command line; several commands are one call of `batch`."""

    folder: Path
    calls: int = 0
    characters: int = 0
    environment: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.environment = {**os.environ, **agent_browser_settings(self.folder, "batch")}

    def reset(self) -> None:
        self.calls = self.characters = 0

    def start(self, url: str) -> list[Node]:
        return tree(self._run("batch", f"open {url}", f"click {START}", "snapshot"))

    def act(self, *steps: Step, look: bool = False) -> list[Node]:
        commands = []
        for kind, node, text in steps:
            values = [given for _, at, given in steps if at is node] if kind == "select" else [text]
            if text == values[0]:
                commands.append(" ".join([kind, f"@{node.ref}", *(json.dumps(value) for value in values if value)]))
        shown = self._run("batch", *commands, *(["snapshot"] if look else []))
        return tree(shown) if look else []

    def close(self) -> None:
        self._run("close")

    def _run(self, *words: str) -> str:
        command = [str(AGENT_BROWSER), *words]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=120, check=False)
        self.calls += 1
        self.characters += len(" ".join(words)) + len(done.stdout)
        keep("agent-browser", " ".join(words), done.stdout)
        return done.stdout
