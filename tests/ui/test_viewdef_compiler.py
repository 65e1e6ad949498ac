"""Templates become binding tables; positions are stamped and nothing else changes."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui_mcp.errors import ViewdefError
from ui_mcp.file_watcher import SavedFile
from ui_mcp.ui.viewdef_compiler import compile_viewdef
from ui_mcp.ui.viewdef_store import ViewdefFiles
from ui_mcp.workspace import Workspace


def kinds(html: str) -> list[tuple[str, str, str]]:
    return [(b.kind, b.text, b.namespace) for b in compile_viewdef("T.DEFAULT", html).bindings]


def test_positions_follow_the_document_and_are_stamped() -> None:
    html = '<template><p ui-value="name" ui-class-active="on">x</p>\n<input UI-VALUE="mail?keypress"></template>'

    viewdef = compile_viewdef("T.DEFAULT", html)

    assert [(b.kind, b.attribute, b.tag, b.text) for b in viewdef.bindings] == [
        ("value", "ui-value", "p", "name"),
        ("class", "ui-class-active", "p", "on"),
        ("value", "ui-value", "input", "mail?keypress"),
    ]
    assert viewdef.html == (
        '<template><p data-ui-b="0 ui-value;1 ui-class-active" ui-value="name" ui-class-active="on">x</p>\n'
        '<input data-ui-b="2 ui-value" UI-VALUE="mail?keypress"></template>'
    )


def test_the_inside_of_a_list_is_an_exemplar() -> None:
    html = (
        '<template><ul ui-viewlist="xs"><li ui-namespace="row" ui-value="no"></li></ul><b ui-value="y"></b></template>'
    )

    viewdef = compile_viewdef("T.DEFAULT", html)

    assert [(b.kind, b.text, b.item_namespace) for b in viewdef.bindings] == [
        ("viewlist", "xs", "row"),
        ("value", "y", ""),
    ]
    assert '<li ui-namespace="row" ui-value="no">' in viewdef.html


@pytest.mark.covers("UI-NS-2")
def test_the_nearest_namespace_around_a_view_counts() -> None:
    nested = '<div ui-namespace="a"><div ui-view="x"></div></div>'
    beside = '<div ui-view="y" ui-namespace="b"></div><i ui-view="z"></i>'

    found = kinds(f"<template>{nested}{beside}</template>")
    assert found == [
        ("view", "x", "a"),
        ("view", "y", "b"),
        ("view", "z", ""),
    ]


@pytest.mark.covers("UI-BIND-2")
def test_other_ui_attributes_bind_nothing() -> None:
    assert kinds('<template><p ui-repeat="x" ui-content="y" ui-attr-="z" ui-event-click="go()"></p></template>') == [
        ("event", "go()", "")
    ]


@pytest.mark.covers("UI-VIEW-2")
def test_content_without_a_template_is_wrapped_with_a_warning() -> None:
    viewdef = compile_viewdef("T.DEFAULT", '<p ui-value="a"></p>')

    assert viewdef.html == '<template><p data-ui-b="0 ui-value" ui-value="a"></p></template>'
    assert viewdef.warnings


@pytest.mark.parametrize("content", ["", "text", "<template></template>", "<template> <!-- <p> --> </template>"])
@pytest.mark.covers("UI-VIEW-2")
def test_a_template_without_an_element_is_refused(content: str) -> None:
    with pytest.raises(ViewdefError, match="invalid viewdef"):
        compile_viewdef("T.DEFAULT", content)


def test_scripts_and_text_areas_hold_no_bindings() -> None:
    script = "<script>'<p ui-value=\"a\">'</script>"
    area = "<textarea ui-value='b'><p ui-value='c'></p></textarea>"

    assert kinds(f"<template>{script}{area}</template>") == [("value", "b", "")]


@given(st.text(alphabet="<>/=\"' abctemplui-vwhnd!\n\t-", max_size=200))
def test_any_text_compiles_or_is_refused_and_only_gains_stamps(content: str) -> None:
    try:
        viewdef = compile_viewdef("T.DEFAULT", f"<template><p></p>{content}</template>")
    except ViewdefError:
        return
    plain = viewdef.html
    for stamp in {f' data-ui-b="{n} ' for n in range(len(viewdef.bindings))}:
        while stamp in plain:
            start = plain.index(stamp)
            plain = plain[:start] + plain[plain.index('"', start + len(stamp)) + 1 :]
    assert content in plain


@pytest.mark.covers("UI-VIEW-1", "UI-VIEW-3")
def test_files_are_found_by_base_name_and_the_first_wins(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    viewdefs, app = tmp_path / "viewdefs", tmp_path / "apps" / "a" / "viewdefs"
    (viewdefs / "deep").mkdir(parents=True)
    app.mkdir(parents=True)
    (viewdefs / "deep" / "my.Type.row.html").write_text("<template><i>first</i></template>")
    (app / "my.Type.row.html").write_text("<template><i>second</i></template>")
    (app / "Bad.DEFAULT.html").write_text("nothing")
    files = ViewdefFiles(Workspace.at(tmp_path))

    with caplog.at_level("WARNING"):
        files.load()

    bundle = json.loads(files.bundle())
    assert "first" in bundle["my.Type.row"][0]
    assert ["Bad.DEFAULT" in record.getMessage() for record in caplog.records] == [True]
    assert {"lua.ViewList.DEFAULT", "lua.ViewListItem.list-item", "MCP.DEFAULT"} <= bundle.keys()


@pytest.mark.covers("UI-TOOL-16")
def test_an_unsaved_upload_stays_until_its_file_changes(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "base" / "viewdefs", tmp_path / "elsewhere.html"
    folder.mkdir(parents=True)
    elsewhere.write_text("<template><b></b></template>")
    (folder / "Note.DEFAULT.html").symlink_to(elsewhere)  # cannot be written
    files = ViewdefFiles(Workspace.at(tmp_path / "base"))
    files.load()
    late = SavedFile(elsewhere, frozenset({folder / "Note.DEFAULT.html"}))

    assert "not saved" in files.upload("Note.DEFAULT", "<template><h1></h1></template>").note
    assert files.reload([late]).bundle is None
    elsewhere.write_text("<template><i></i></template>")

    assert "<i" in str(files.reload([late]).bundle)
