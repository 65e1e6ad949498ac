"""Answers too long to show, when they cannot be written down."""

from pathlib import Path

import pytest

from ui_mcp.errors import NotFoundError
from ui_mcp.gateway import results
from ui_mcp.gateway.results import ResultStore


async def test_a_result_that_cannot_be_written_is_held_in_memory_up_to_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "_MAX_HELD_BYTES", 10)
    (tmp_path / "results").write_text("in the way")
    store = ResultStore(tmp_path / "results")

    first, second = [await store.store(data, "text/plain", "ann") for data in (b"first", b"second")]

    assert (await store.read(second, "ann")).data == b"second"
    with pytest.raises(NotFoundError, match="make the call again"):
        await store.read(first, "ann")
