"""Files of `ui-upload`: stored in parts under safe names, and nothing is left of those that fail."""

import base64
from pathlib import Path
from typing import Any

import pytest

from lua_runtime.cores import Bench
from lua_runtime.page import Page

APP = """
App = session:prototype("App", {})
app = App:new()
app.files = {}
mcp.value = app
"""


def opened(bench: Bench, attributes: str = "multiple") -> Page:
    bench.viewdefs(App__DEFAULT=f'<ui-upload ui-value="files" {attributes}></ui-upload>')
    bench.run(APP)
    return bench.open()


def ask(bench: Bench, page: Page, **question: Any) -> Any:
    view = next(node for node in page.views.values() if node.key == "App.DEFAULT")
    before = len(page.told)
    bench.send([view.number, 0, question])
    told = page.told[before:]
    return told[0]["upload"] if told else None


def packed(data: bytes) -> str:
    return base64.b64encode(data).decode()


def stored(bench: Bench) -> dict[str, bytes]:
    folder = Path(str(bench.run("return mcp.status().base_dir"))) / "storage"
    return {file.name: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.covers("UI-ELEM-4")
def test_parts_become_one_file_in_the_list(bench: Bench) -> None:
    page = opened(bench)
    assert ask(bench, page, begin="../../a b.bin", size=5, serial=1) == {"serial": 1, "got": 0}
    assert ask(bench, page, part=packed(b"\x00\x01\xff"), serial=1) == {"serial": 1, "got": 3}
    done = ask(bench, page, part=packed(b"ab"), serial=1, last=True)
    assert done["got"] == 5
    assert stored(bench) == {"__.._a b.bin": b"\x00\x01\xffab"}
    assert bench.run("return app.files[1].size") == 5


@pytest.mark.covers("UI-ELEM-4")
def test_more_than_was_said_and_what_is_no_base64_is_refused_and_removed(bench: Bench) -> None:
    page = opened(bench)
    ask(bench, page, begin="a.txt", size=2, serial=1)
    assert ask(bench, page, part=packed(b"abc"), serial=1)["problem"] == "The file is larger than it said."
    ask(bench, page, begin="b.txt", size=9, serial=2)
    assert "could not be stored" in ask(bench, page, part="%%%", serial=2)["problem"]
    ask(bench, page, begin="c.txt", size=9, serial=3)
    assert ask(bench, page, cancel=True, serial=3)["problem"] == ""
    assert ask(bench, page, begin="d", size=10**10, serial=4)["problem"] == "The file is too large; the most is 25 MB."
    assert "choose the file again" in ask(bench, page, part=packed(b"x"), serial=9)["problem"]
    assert stored(bench) == {}
    assert bench.run("return #app.files") == 0


@pytest.mark.covers("UI-ELEM-4")
@pytest.mark.parametrize(
    ("attributes", "file", "problem"),
    [
        ('accept=".csv, image/*"', {"begin": "a.exe"}, "This kind of file is not taken; .csv, image/* is."),
        ('accept=".csv, image/*"', {"begin": "a.CSV"}, None),
        ('accept=".csv, image/*"', {"begin": "a", "type": "image/png"}, None),
        ('max-size="1 KB"', {"begin": "a", "size": 1025}, "The file is too large; the most is 1 KB."),
        ("", {"begin": "a", "size": 26 * 1024 * 1024}, "The file is too large; the most is 25 MB."),
        ('ui-attr-max-size="most"', {"begin": "a", "size": 26 * 1024 * 1024}, None),
    ],
)
def test_the_limits_of_a_viewdef_hold_whatever_the_page_does(
    bench: Bench, attributes: str, file: dict[str, Any], problem: str | None
) -> None:
    page = opened(bench, attributes)
    assert ask(bench, page, serial=1, **{"size": 1} | file).get("problem") == problem


@pytest.mark.covers("UI-ELEM-4")
def test_a_file_too_many_is_refused(bench: Bench) -> None:
    page = opened(bench, "")
    ask(bench, page, begin="a", size=1, serial=1)
    assert ask(bench, page, begin="b", size=1, serial=2)["problem"] == "At most 1 file."
    ask(bench, page, part=packed(b"a"), serial=1, last=True)
    assert ask(bench, page, begin="b", size=1, serial=3)["problem"] == "At most 1 file."
