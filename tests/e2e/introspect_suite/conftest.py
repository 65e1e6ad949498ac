"""The same demo in every toolkit, attached as a target."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from introspection.cells import CELLS, cell
from introspection.demos import Demo, browser_demo, javafx_demo, page_demo, swing_demo


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module", params=["page", "browser", "swing", *CELLS])
async def demo(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Demo]:
    if request.param == "page":
        opened = page_demo(Path(__file__).with_name("demo.html"))
    elif request.param == "browser":
        opened = browser_demo(Path(__file__).with_name("demo.html"))
    elif request.param == "swing":
        opened = swing_demo(tmp_path_factory.mktemp("swing"))
    else:
        opened = javafx_demo(cell(request.param), tmp_path_factory.mktemp("javafx"))
    async with opened as made:
        yield made
