from collections.abc import AsyncIterator

import pytest

from agent.models.vendor import Vendor, vendor


@pytest.fixture
async def served() -> AsyncIterator[Vendor]:
    async with vendor() as serving:
        yield serving
