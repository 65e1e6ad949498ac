"""What holds for every test."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples in every run, however slow: a failure tells of a change, not of luck or of a busy machine.
# Others are drawn by `pytest --hypothesis-profile=default`.
settings.load_profile("ci")


_LONG = frozenset(
    {
        "conformance",
        "docs",
        "e2e",
        "examples",
        "fuzz",
        "integration",
        "journeys",
        "packaging",
        "scripts",
        "security",
        "soak",
    }
)
"""Folders whose tests start servers, browsers, JVMs or other people's programs."""
_LONG_SECONDS = 300


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give tests with real programs a longer limit; a test's own `timeout` mark wins."""
    here = Path(__file__).parent
    for item in items:
        if item.path.relative_to(here).parts[0] in _LONG and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(_LONG_SECONDS))


@pytest.fixture(scope="session", autouse=True)
def own_directories(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the developer's own settings, credentials and data out of the tests, and the tests out of them.

    The key of `account_seal` is shared with the account: it has one fixed place, and nothing but a key is in it.
    Child processes inherit the variables; XDG_CACHE_HOME is left alone because Playwright's browsers are found there.
    """
    home = tmp_path_factory.mktemp("account")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("CONFIG", "STATE", "DATA"):
            patch.setenv(f"XDG_{name}_HOME", str(home / name.lower()))
        yield
