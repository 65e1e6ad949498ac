"""Links to the elements of an app in the head of its page."""

from pathlib import Path

import pytest

from ui_mcp.ui.elements import contracts, elements_in
from ui_mcp.ui.http.preloads import imports_of, preloads
from ui_mcp.workspace import BUNDLE

pytestmark = pytest.mark.covers("UI-ELEM-10")
ELEMENTS = BUNDLE / "web" / "vendor" / "elements"


def test_an_element_and_what_it_imports_are_linked_once(tmp_path: Path) -> None:
    (tmp_path / "chart.js").write_text('import{a as b}from"./shared-A.js";import"./shared-B.js";x=import("./late.js")')
    (tmp_path / "table.js").write_text('import{a}from"./shared-A.js"')
    (tmp_path / "shared-A.js").write_text("import{c}from'./shared-C.js'")
    (tmp_path / "shared-B.js").write_text("")
    (tmp_path / "shared-C.js").write_text("")

    found = preloads(["ui-chart", "ui-table"], "v1", tmp_path)

    start = '<link rel="modulepreload" fetchpriority="low" href="/vendor/elements/'
    assert found.split(start)[1:] == [
        'chart.js?v=v1" data-element="ui-chart">',
        'table.js?v=v1" data-element="ui-table">',
        'shared-A.js">',
        'shared-C.js">',
        'shared-B.js">',
    ]


def test_our_elements_are_found_in_a_template() -> None:
    html = '<template><ui-chart ui-value="a"></ui-chart><sl-button></sl-button><ui-charts></ui-charts></template>'
    assert elements_in(html) == {"ui-chart"}


@pytest.mark.slow
@pytest.mark.parametrize("tag", sorted(contracts()))
def test_what_a_built_element_imports_is_found(tag: str) -> None:
    text = (ELEMENTS / f"{tag.removeprefix('ui-')}.js").read_text(encoding="utf-8")
    found = imports_of(ELEMENTS / f"{tag.removeprefix('ui-')}.js")

    assert text.startswith("import") == bool(found)
    assert [name for name in found if not (ELEMENTS / name).is_file()] == []
