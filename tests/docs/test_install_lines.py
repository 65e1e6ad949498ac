"""No text installs ui-mcp by name: until the name is registered on the package index, it could be another package."""

import re

import pytest

from docs.blocks import PAGES, ROOT

INSTALLERS = r"(?:pipx? install|pipx run|uv add|uv pip install|uv tool install|uv tool run|uvx)"
BY_NAME = re.compile(rf"\b{INSTALLERS}(?:\s+-\S+)*\s+['\"]?(?:ui[-_.]mcp|nlui)(?![-_.]?\w)(?!-\*)")


@pytest.mark.parametrize(
    "line",
    ["pip install ui-mcp", "pip install -U 'ui-mcp[browser]'", "uvx ui-mcp mcp", "uv tool install ui_mcp", "uvx nlui"],
)
def test_a_line_that_asks_the_index_is_recognised(line: str) -> None:
    assert BY_NAME.search(line)


@pytest.mark.parametrize(
    "line",
    ["pip install ui_mcp-*.whl", "pip install 'ui_mcp-0.1.0-py3-none-any.whl[browser]'", "pip install .",
     "uvx --from ./ui_mcp-0.1.0-py3-none-any.whl ui-mcp mcp"],
)  # fmt: skip
def test_a_wheel_or_a_checkout_is_not(line: str) -> None:
    assert not BY_NAME.search(line)


def test_no_text_installs_by_name_from_the_index() -> None:
    found = [
        f"{page.relative_to(ROOT)}:{number}: {line.strip()}"
        for page in PAGES
        for number, line in enumerate(page.read_text("utf-8").splitlines(), 1)
        if BY_NAME.search(line)
    ]

    assert found == []
