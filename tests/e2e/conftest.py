"""Tests in a real browser need one."""

import pytest

import needs


@pytest.fixture(scope="package", autouse=True)
def _browser(request: pytest.FixtureRequest) -> None:
    if not any(name in request.node.nodeid for name in ("introspect_javafx", "introspect_swing")):
        needs.browser()
