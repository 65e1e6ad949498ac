"""Where a browser is looked for."""

from pathlib import Path

import pytest

from ui_mcp.config import Config
from ui_mcp.errors import UiNotEnabledError
from ui_mcp.introspection.backends.chromium import launch
from ui_mcp.introspection.backends.chromium.launch import executable
from ui_mcp.introspection.targets import ServedUi, TargetRegistry


@pytest.fixture
def machine_without_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("UI_MCP_CHROMIUM", raising=False)
    monkeypatch.setattr(launch, "_PATHS", ())


@pytest.mark.usefixtures("machine_without_browser")
@pytest.mark.covers("IN-98")
async def test_without_a_browser_the_list_of_targets_and_the_error_say_so(tmp_path: Path) -> None:
    async def rendered() -> None:
        return

    served = ServedUi("http://127.0.0.1:1/", "http://127.0.0.1:1/", None, 0.0, rendered)
    registry = TargetRegistry(Config, lambda: tmp_path / "targets", lambda: served)

    browser = next(entry for entry in registry.listed() if entry["id"] == "browser")
    with pytest.raises(UiNotEnabledError, match="Install Chrome, Chromium or Edge") as caught:
        await registry.target("browser")

    assert (browser["enabled"], browser["reason"]) == (False, "NO_BROWSER")
    assert caught.value.details["reason"] == "NO_BROWSER"


@pytest.mark.usefixtures("machine_without_browser")
@pytest.mark.covers("IN-98")
def test_the_configured_browser_wins_then_the_variable_then_the_machines_then_a_tools_download(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "chromium-browser"
    downloaded = tmp_path / ".cache" / "ms-playwright" / "chromium-1" / "chrome-linux" / "chrome"
    downloaded.parent.mkdir(parents=True)
    for file in (downloaded, installed):
        file.write_text("")
        file.chmod(0o755)
    monkeypatch.setenv("UI_MCP_CHROMIUM", "/from/variable")

    found = [executable("/configured"), executable(None)]
    monkeypatch.delenv("UI_MCP_CHROMIUM")
    found.append(executable(None))
    installed.unlink()
    found.append(executable(None))
    downloaded.unlink()
    found.append(executable(None))

    assert found == ["/configured", "/from/variable", str(installed), str(downloaded), None]
