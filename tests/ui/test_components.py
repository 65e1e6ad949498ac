"""Components in viewdefs: parameters, slots, and files that change."""

from pathlib import Path

import pytest

from ui_mcp.errors import ViewdefError
from ui_mcp.file_watcher import SavedFile
from ui_mcp.ui.components import Component, component_tag, expand, read_component
from ui_mcp.ui.viewdef_store import ViewdefFiles
from ui_mcp.workspace import Workspace

pytestmark = pytest.mark.covers("UI-PART-1")

TILE = """<template label tone="calm">
  <article class="{tone}">
    <h3>{label}</h3>
    <slot></slot>
  </article>
</template>"""


def expanded(html: str, **components: str) -> str:
    known = {name.replace("_", "-"): text for name, text in components.items()}
    read = {tag: read_component(tag, text) for tag, text in known.items()}
    return expand(html, read.get)


def test_a_component_gets_parameters_and_content() -> None:
    html = expanded('<stat-tile label="A &amp; B"><b ui-value="sum"></b></stat-tile>', stat_tile=TILE)

    assert html == '<article class="calm"> <h3>A &amp; B</h3> <b ui-value="sum"></b> </article>'


def test_a_path_can_be_a_parameter() -> None:
    body = '<template value><output ui-value="{value}" ui-class-low="{value} < 3"></output></template>'

    html = expanded('<big-number value="stock()"></big-number>', big_number=body)

    assert html == '<output ui-value="stock()" ui-class-low="stock() < 3"></output>'


def test_slots_take_named_elements_and_have_defaults() -> None:
    body = '<template><section><slot name="head"><h2>Untitled</h2></slot><slot></slot></section></template>'

    assert (
        expanded('<my-box><p>one</p><h1 slot="head">Hi</h1></my-box>', my_box=body)
        == "<section><h1>Hi</h1><p>one</p></section>"
    )
    assert expanded("<my-box></my-box>", my_box=body) == "<section><h2>Untitled</h2></section>"


def test_an_element_for_an_unknown_slot_stays_with_the_rest() -> None:
    body = "<template><sl-card><slot></slot></sl-card></template>"

    html = expanded('<my-card><b slot="footer">x</b></my-card>', my_card=body)

    assert html == '<sl-card><b slot="footer">x</b></sl-card>'


def test_other_attributes_go_to_the_first_element() -> None:
    html = expanded('<stat-tile class="wide" ui-if="open" label="x"></stat-tile>', stat_tile=TILE)

    assert html.startswith('<article class="calm wide" ui-if="open">')


def test_components_contain_components() -> None:
    outer = '<template name><stat-tile label="{name}"><slot></slot></stat-tile></template>'

    html = expanded('<my-outer name="N"><stat-tile label="in"></stat-tile></my-outer>', stat_tile=TILE, my_outer=outer)

    assert html.count("<article") == 2
    assert "<h3>N</h3>" in html
    assert "<h3>in</h3>" in html


def test_lines_after_a_component_keep_their_numbers() -> None:
    html = 'a\n<stat-tile\n  label="x">\n  <i></i>\n</stat-tile>\nlast'

    assert expanded(html, stat_tile=TILE).split("\n").index("last") == html.split("\n").index("last")


def test_scripts_and_styles_keep_their_braces() -> None:
    body = "<template label><p>{label}</p><style>p{label}</style></template>"

    assert expanded('<a-b label="x"></a-b>', a_b=body) == "<p>x</p><style>p{label}</style>"


@pytest.mark.parametrize(
    ("use", "reason"),
    [
        ('<stat-tile lable="x"></stat-tile>', "no parameter 'lable'; did you mean label?"),
        ('<stat-tile size="x"></stat-tile>', "no parameter 'size'; parameters: label, tone"),
    ],
)
def test_an_unknown_parameter_is_named(use: str, reason: str) -> None:
    with pytest.raises(ViewdefError, match=reason.replace("?", r"\?")):
        expanded(use, stat_tile=TILE)


def test_a_component_that_contains_itself_is_refused() -> None:
    with pytest.raises(ViewdefError, match="contains itself"):
        expanded("<a-b></a-b>", a_b="<template><p><a-b></a-b></p></template>")


def test_a_component_needs_an_element() -> None:
    with pytest.raises(ViewdefError, match="needs a <template>"):
        read_component("a-b", "<template>text</template>")


@pytest.mark.parametrize(
    ("key", "tag"),
    [
        ("stat-tile.component", "stat-tile"),
        ("shop.stat-tile.component", "stat-tile"),
        ("Tile.component", None),
        ("ui-table.component", None),
        ("stat-tile.DEFAULT", None),
    ],
)
def test_the_name_of_a_file_says_whether_it_is_a_component(key: str, tag: str | None) -> None:
    assert component_tag(key) == tag


@pytest.fixture
def files(tmp_path: Path) -> ViewdefFiles:
    write(tmp_path, "viewdefs/stat-tile.component.html", TILE)
    write(tmp_path, "apps/shop/viewdefs/Shop.DEFAULT.html", '<template><stat-tile label="Sold"></stat-tile></template>')
    found = ViewdefFiles(Workspace.at(tmp_path))
    found.load()
    return found


def write(folder: Path, name: str, text: str) -> SavedFile:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return SavedFile(file, frozenset({file}))


def test_apps_share_the_components_of_the_project(files: ViewdefFiles) -> None:
    assert "<h3>Sold</h3>" in files.bundle()
    assert "stat-tile" not in files.bundle()


def test_a_saved_component_changes_the_viewdefs_that_use_it(files: ViewdefFiles, tmp_path: Path) -> None:
    saved = write(tmp_path, "viewdefs/stat-tile.component.html", TILE.replace("h3", "h4"))

    reloaded = files.reload([saved])

    assert reloaded.bundle is not None
    assert "<h4>Sold</h4>" in reloaded.bundle


def test_an_app_has_components_of_its_own(files: ViewdefFiles, tmp_path: Path) -> None:
    own = write(
        tmp_path, "apps/shop/viewdefs/stat-tile.component.html", "<template label><p>own {label}</p></template>"
    )

    reloaded = files.reload([own])

    assert reloaded.bundle is not None
    assert "own Sold" in reloaded.bundle


def test_a_component_can_be_uploaded(files: ViewdefFiles) -> None:
    uploaded = files.upload("stat-tile.component", "<template label><p>new {label}</p></template>")

    assert "new Sold" in uploaded.bundle


def test_a_component_that_appears_later_is_put_in(tmp_path: Path) -> None:
    use = "<template><late-one></late-one></template>"
    write(tmp_path, "viewdefs/T.DEFAULT.html", use)
    files = ViewdefFiles(Workspace.at(tmp_path))
    files.load()

    reloaded = files.reload([write(tmp_path, "viewdefs/late-one.component.html", "<template><p>here</p></template>")])

    assert reloaded.bundle is not None
    assert "<p>here</p>" in reloaded.bundle


def test_the_file_of_a_component_says_what_it_takes() -> None:
    assert read_component("stat-tile", TILE) == Component(
        "stat-tile", {"label": "", "tone": "calm"}, TILE[TILE.index(">") + 1 : -len("</template>")]
    )
