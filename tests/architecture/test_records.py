"""Generated and recorded files are those that the code generates now; `scripts/records.py` compares and writes them."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))

import records


@pytest.mark.parametrize("script", [name for name in records.SCRIPTS if name != "surface"])
def test_no_generated_file_is_stale(script: str) -> None:
    assert records.stale(script) == [], "run `make records`"


def test_a_changed_and_a_missing_file_are_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {tmp_path / name: f"{name}\n" for name in ("same", "changed", "missing")}
    (tmp_path / "same").write_text("same\n")
    (tmp_path / "changed").write_text("an older text\n")
    monkeypatch.setitem(sys.modules, "invented", SimpleNamespace(generated=lambda: texts))

    assert [file.name for file, _ in records.stale("invented")] == ["changed", "missing"]
