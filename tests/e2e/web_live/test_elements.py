"""Every element in a real browser: its snippet is clean and accessible in light and dark, and fits a phone."""

from typing import Literal

import pytest
from playwright.sync_api import Page

from ui_mcp.ui.elements import contracts

from . import gallery
from .conftest import Server
from .test_pages import accessible

pytestmark = pytest.mark.slow
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


@pytest.mark.covers("UI-ELEM-1")
@pytest.mark.parametrize("tag", sorted(contracts()))
def test_a_snippet_is_clean_accessible_and_fits(shelf: Server, page: Page, tag: str) -> None:
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        gallery.show(shelf, page, tag)
        accessible(page)
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
