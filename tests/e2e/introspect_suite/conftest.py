"""The same demo in every toolkit, attached as a target."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from introspect.demos import Demo, browser_demo, debian_cell, javafx_demo


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module", params=["browser", "javafx"])
async def demo(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Demo]:
    if request.param == "browser":
        opened = browser_demo(Path(__file__).with_name("demo.html"))
    else:
        opened = javafx_demo(debian_cell(), tmp_path_factory.mktemp("javafx"))
    async with opened as made:
        yield made
