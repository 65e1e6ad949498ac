"""Tests in a real browser need one."""

import pytest

import needs


@pytest.fixture(scope="package", autouse=True)
def _browser(request: pytest.FixtureRequest) -> None:
    if "introspect_javafx" not in request.node.nodeid:
        needs.browser()
