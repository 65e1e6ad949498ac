"""What the tests of the texts share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.service import served
from docs.terminal import Terminal


@pytest.fixture(scope="package")
def service() -> Iterator[str]:
    """The address of an API that describes itself."""
    with served() as address:
        yield address


@pytest.fixture
def terminal(tmp_path: Path, service: str) -> Terminal:
    """A terminal in an empty home, where example.com is the API."""
    hosts = ("https://shop.example.com", "https://api.example.com")
    return Terminal(tmp_path, dict.fromkeys(hosts, service), SHOP_KEY="secret")
