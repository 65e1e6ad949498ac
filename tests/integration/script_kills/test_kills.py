"""A script of 40 calls and 3 approvals survives kills of gateway, worker and upstream: nothing is doubled or lost."""

import random
from pathlib import Path

import pytest

from integration.script_kills.killing import Killing


@pytest.mark.slow
@pytest.mark.timeout(480)
@pytest.mark.covers("GW-RUN-4", "GW-RUN-5")
@pytest.mark.parametrize("database", ["sqlite", "postgres"])
async def test_nothing_is_doubled_or_lost_by_kills(
    database: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))  # keeps the key that seals scripts
    store = str(tmp_path / "store.sqlite") if database == "sqlite" else request.getfixturevalue("postgres_url")()

    await Killing(tmp_path, store, random.Random()).run(9)
