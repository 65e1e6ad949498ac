from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ui_mcp.testing.project import OpenApp, open_app

EXAMPLES = Path(__file__).parents[2] / "examples"
FIXTURES = Path(__file__).parent / "fixtures"
"""Small apps that only tests use, each about one part of the language."""


@pytest.fixture
def examples() -> Path:
    return EXAMPLES


@pytest.fixture
async def app(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[OpenApp]:
    """The example named by the test module's `APP`, displayed, with a page on it."""
    name = request.module.APP
    async with open_app(EXAMPLES / name if (EXAMPLES / name).is_dir() else FIXTURES / name, tmp_path) as opened:
        yield opened
