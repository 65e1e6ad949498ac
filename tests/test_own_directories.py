"""The suite never touches the account it runs in."""

import subprocess
import sys
from pathlib import Path

import platformdirs

from ui_mcp.person import state_folder


def test_settings_state_and_data_of_the_account_are_temporary(tmp_path: Path) -> None:
    folders = (platformdirs.user_config_path("ui-mcp"), state_folder(), platformdirs.user_data_path("nlui"))

    assert all(folder.is_relative_to(tmp_path.parents[1]) for folder in folders)


def test_a_child_process_gets_the_same_directories() -> None:
    code = "import platformdirs; print(platformdirs.user_config_path('ui-mcp'))"

    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert Path(printed.strip()) == platformdirs.user_config_path("ui-mcp")
