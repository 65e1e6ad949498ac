"""What holds for every client here."""

import pytest


@pytest.fixture(autouse=True)
def patient_probe(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a busy machine answer: after ten seconds without one the SDK takes a server for one of the older era."""
    monkeypatch.setattr("mcp.client.session.DISCOVER_TIMEOUT_SECONDS", 120.0)
