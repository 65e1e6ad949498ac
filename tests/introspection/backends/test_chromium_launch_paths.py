"""Where a browser is looked for."""

from pathlib import Path

import pytest

from ui_mcp.introspection.backends.chromium.launch import executable


@pytest.mark.covers("IN-98")
def test_the_configured_browser_wins_then_the_variable_then_playwrights_then_the_machines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    downloaded, installed = tmp_path / "downloaded", tmp_path / "chromium-browser"
    for file in (downloaded, installed):
        file.write_text("")
        file.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("UI_MCP_CHROMIUM", "/from/variable")

    found = [executable("/configured", str(downloaded)), executable(None, str(downloaded))]
    monkeypatch.delenv("UI_MCP_CHROMIUM")
    found += [executable(None, str(downloaded)), executable(None, str(tmp_path / "absent"))]

    assert found == ["/configured", "/from/variable", str(downloaded), str(installed)]
