"""A browser of our own for pages written in the tests."""

from collections.abc import AsyncIterator

import pytest

from introspection.demos import Demo, browser_demo


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def browser(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Demo]:
    page = tmp_path_factory.mktemp("page") / "empty.html"
    page.write_text("<title>Empty</title>")
    async with browser_demo(page) as made:
        yield made
