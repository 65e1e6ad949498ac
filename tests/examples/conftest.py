from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ui_mcp.testing.project import OpenApp, open_app

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def examples() -> Path:
    return EXAMPLES


@pytest.fixture
async def app(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[OpenApp]:
    """The example named by the test module's `APP`, displayed, with a page on it."""
    async with open_app(EXAMPLES / request.module.APP, tmp_path) as opened:
        yield opened
