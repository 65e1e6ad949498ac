"""Names in viewdefs that do not exist are found, with the one that was meant; others are left alone."""

import re
from pathlib import Path

import pytest

from ui_mcp.ui.viewdef_names import HTML, SHOELACE, unknown_names

ROOT = Path(__file__).parents[2]


def found(html: str, icons: Path | None = None) -> list[tuple[int, str, str, str]]:
    return [(one.line, one.kind, one.shown, one.hint) for one in unknown_names(f"<template>{html}</template>", icons)]


@pytest.mark.covers("UI-ERR-3")
@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("\n<sl-buton>x</sl-buton>", (2, "tag", "<sl-buton>", "did you mean sl-button?")),
        ("<buton>x</buton>", (1, "tag", "<buton>", "did you mean button?")),
        ('<b ui-valu="n"></b>', (1, "attribute", 'ui-valu="n"', "did you mean ui-value?")),
        (
            '<b ui-show="n"></b>',
            (1, "attribute", 'ui-show="n"', 'hide with ui-class-hidden="path", or use ui-if="path"'),
        ),
        (
            '<input ui-value="n?keypres&amp;priority=high">',
            (1, "option", '?keypres in "n?keypres&priority=high"', "did you mean keypress?"),
        ),
        ('<sl-icon name="piggy-bankk"></sl-icon>', (1, "icon", '"piggy-bankk"', "did you mean piggy-bank?")),
    ],
)
def test_a_name_that_does_not_exist_is_found(html: str, expected: tuple[int, str, str, str]) -> None:
    assert found(html) == [expected]


@pytest.mark.covers("UI-ERR-3")
@pytest.mark.parametrize(
    "html",
    [
        '<svg viewBox="0 0 1 1"><linearGradient id="a"><stop/></linearGradient><path d="M0 0"/></svg>',
        "<my-element></my-element>",
        '<b ui-value="total()?decimals=2&unit=€"></b><ul ui-viewlist="rows?wrapper=Mine&depth=2&window=20"></ul>',
        """<b ui-value="busy ? 'wait' : 'go'"></b><b ui-value="said('really?keypres')"></b>""",
        "<sl-mine></sl-mine><script>customElements.define('sl-mine', class extends HTMLElement {})</script>",
        '<b ui-class-hidden="a" ui-style-width="b" ui-attr-title="c" ui-event-click="d()" ui-namespace="e"></b>',
        '<input ui-event-keypress-ctrl-enter="go()">',
        '<sl-icon ui-attr-name="icon" name="nothing-like-it"></sl-icon>',
        '<sl-icon library="mine" name="nothing-like-it"></sl-icon><sl-icon src="x.svg" name="odd-one"></sl-icon>',
        '<table><tbody ui-for="rows()"><tr><td ui-value="n"></td></tr></tbody></table>',
        "<script>const a = '<buton>';</script><style>buton > b { color: red }</style>",
        '<sl-input name="anything-goes"></sl-input><p>1 < 2</p>',
    ],
)
def test_what_may_exist_is_left_alone(html: str) -> None:
    assert found(html) == []


@pytest.mark.covers("UI-ERR-3")
def test_an_icon_of_the_project_is_known(tmp_path: Path) -> None:
    (tmp_path / "our-logo.svg").write_text("<svg></svg>")

    assert found('<sl-icon name="our-logo"></sl-icon>', tmp_path) == []


@pytest.mark.covers("UI-ERR-3")
def test_the_known_components_are_those_of_the_page() -> None:
    texts = [(ROOT / "web" / "src" / "components" / name).read_text() for name in ("core.ts", "more.ts")]
    loaded = {f"sl-{name}" for text in texts for name in re.findall(r"components/([\w-]+)/", text)}

    assert loaded == SHOELACE
    assert not {tag for tag in HTML if "-" in tag}
