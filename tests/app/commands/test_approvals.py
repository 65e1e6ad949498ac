"""`ui-mcp approvals` reads the store that the gateway of the directory writes."""

from contextlib import closing
from pathlib import Path

import pytest

from ui_mcp.app.commands.approvals import ApprovalCommand, run_command
from ui_mcp.gateway.approvals.store import open_store


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("ui_mcp.app.commands.approvals.person", _terminal)
    monkeypatch.setenv("NLUI_CONFIG", str(tmp_path / "nlui.yaml"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


async def _terminal(*_: object) -> None:
    """Stand for a person at a terminal."""


@pytest.mark.parametrize(
    ("settings", "file"),
    [("data_dir: {0}/kept", "kept/approvals.db"), ("storage: {{url: {0}/elsewhere.db}}", "elsewhere.db")],
)
def test_the_store_is_the_one_that_nlui_yaml_names(project: Path, settings: str, file: str) -> None:
    (project / "nlui.yaml").write_text(settings.format(project))
    with closing(open_store(str(project / file))):
        pass

    (line,) = run_command(None, str(project / ".claude/ui"), ApprovalCommand("list"))

    assert "Nothing" in line
