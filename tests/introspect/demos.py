"""Opens the demo application of the contract suite in each toolkit."""

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from ui_mcp.introspect.actions import Action
from ui_mcp.introspect.contract import Ask
from ui_mcp.introspect.performing import Outcome, Performance, perform
from ui_mcp.introspect.requests import Selector
from ui_mcp.introspect.target import Target
from ui_mcp.introspect.tree import Node


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

    async def find(self, **selector) -> list[Node]:
        ask = Ask(stage="all", sections=frozenset({"bounds"}), css=selector.get("css"), internals="css" in selector)
        return await self.target.find(Selector.model_validate(selector), ask)

    async def uid(self, css: str) -> str:
        return (await self.one(css)).uid

    async def said(self) -> str:
        """Return what the status line says."""
        return (await self.one("#status")).record.get("l", "")

    async def do(self, *actions: dict, **options) -> Outcome:
        made = [Action.model_validate(action) for action in actions]
        return await perform(self.target, Performance(made, **options))

    async def click(self, css: str, **options) -> Outcome:
        return await self.do({"type": "click", "target": await self.uid(css), **options})


def needs(tool: str) -> None:
    """Skip without `tool`; in CI its absence is a failure."""
    if shutil.which(tool) is None:
        if os.environ.get("CI") == "true":
            pytest.fail(f"{tool} is not installed")
        pytest.skip(f"{tool} is not installed")


@asynccontextmanager
async def browser_demo(page: Path) -> AsyncIterator[Demo]:
    from ui_mcp.introspect.backends.browser import BrowserBackend

    needs("chromium")
    backend = await BrowserBackend.launch(page.as_uri())
    try:
        types = {"field": "input", "button": "button", "label": "label", "role": "BUTTON", "root": "body"}
        yield Demo("browser", Target("browser", backend), types)
    finally:
        await backend.close()
