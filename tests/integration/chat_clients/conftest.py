"""A room for clients of all kinds."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from integration.chat_clients.room import Room


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[Room]:
    """An empty chat directory; whatever is started in it ends with the test."""
    async with AsyncExitStack() as stack:
        yield Room(tmp_path / "ui", stack)
