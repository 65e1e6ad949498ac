"""The same demo in every toolkit, attached as a target."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from introspect.demos import Demo, browser_demo


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module", params=["browser"])
async def demo(request: pytest.FixtureRequest) -> AsyncIterator[Demo]:
    async with browser_demo(Path(__file__).with_name("demo.html")) as made:
        yield made
