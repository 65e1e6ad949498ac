"""What holds for every test."""

from collections.abc import Iterator

import pytest
from hypothesis import settings

# The same examples in every run, however slow: a failure tells of a change, not of luck or of a busy machine.
# Others are drawn by `pytest --hypothesis-profile=default`.
settings.load_profile("ci")


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
