from pathlib import Path

import pytest

from ui_mcp.ui.audit import audit

EXAMPLES = sorted(file.parent.name for file in (Path(__file__).parents[2] / "examples").glob("*/app.lua"))


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_passes_its_own_audit(examples: Path, name: str) -> None:
    assert audit(examples, name)["violations"] == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_has_a_test(name: str) -> None:
    assert (Path(__file__).parent / f"test_{name.replace('-', '_')}.py").is_file()
