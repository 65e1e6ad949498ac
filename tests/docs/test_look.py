"""The scenario of the how-to runs against the tutorial's app in a real browser."""

import json
from pathlib import Path

import pytest

from docs.blocks import ROOT, blocks
from interaction.lineclient import LineClient


@pytest.mark.slow
def test_the_scenario_passes_on_the_tutorials_app(tmp_path: Path) -> None:
    for block in blocks(ROOT / "docs" / "tutorial.md"):
        if block.file:
            file = tmp_path / block.file
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.code)
    [scenario] = [block.code for block in blocks(ROOT / "docs/howto/look.md") if block.language == "json"]
    with LineClient(cwd=tmp_path) as agent:
        agent.call("ui_start")

        assert agent.call("ui_test", **json.loads(scenario)) == {"ok": True, "steps": 3}
