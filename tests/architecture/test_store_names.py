"""The files in which the program keeps its data are named in one place."""

import ast
import re
from pathlib import Path

from ui_mcp import workspace
from ui_mcp.lua_runtime import permissions

SOURCE = Path(__file__).parents[2] / "src" / "ui_mcp"
NAMES = {value for name, value in vars(workspace).items() if name.endswith("_FILE")}
EXEMPT = {"workspace.py", "lua_runtime/permissions.py"}
"""A Lua worker does not import `workspace`, which would take longer than the rest of its start."""


def test_no_other_module_spells_the_name_of_a_store() -> None:
    spelled = {
        f"{file.relative_to(SOURCE).as_posix()}: {node.value}"
        for file in SOURCE.rglob("*.py")
        if file.relative_to(SOURCE).as_posix() not in EXEMPT
        for node in ast.walk(ast.parse(file.read_text()))
        # Texts for people have spaces.
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " not in node.value
        and any(re.search(rf"(^|/){re.escape(name)}", node.value) for name in NAMES)
    }  # fmt: skip

    assert spelled == set()


def test_app_code_may_not_use_the_stores_with_messages_and_permissions() -> None:
    kept = {workspace.APPROVALS_FILE, workspace.CHAT_FILE, workspace.JOURNAL_FILE}

    assert {f"/**/{name}*" for name in kept} <= set(permissions.OWN)
