"""Checks that a person runs a command: by a controlling terminal or a human's token in the environment."""

import os
import sys
from pathlib import Path
from typing import IO

from ui_mcp import config as settings
from ui_mcp.chat.identity import ROLES, AccessTokens, Principal
from ui_mcp.chat.service import open_store, store_url
from ui_mcp.errors import RefusedError
from ui_mcp.workspace import Workspace

TOKEN_VARIABLE = "UI_MCP_TOKEN"  # noqa: S105 - the name of a variable, not a secret
_TERMINAL = ("CONIN$", "CONOUT$") if sys.platform == "win32" else ("/dev/tty", "/dev/tty")


def has_terminal(stdin: int = 0) -> bool:
    """Return whether a person can type to this process: stdin is a terminal, and there is a controlling one."""
    try:
        if not os.isatty(stdin):
            return False
        os.close(os.open(_TERMINAL[0], os.O_RDONLY))
    except OSError:
        return False
    return True


async def person(command: str, base_dir: str, stdin: int = 0) -> Principal | None:
    """Require a person for `command`; return the holder of the token, or None for the person at the terminal.

    Raises:
        RefusedError: there is neither a terminal nor a human's token.
    """
    # Removed from the environment, so that child processes do not inherit it.
    token = os.environ.pop(TOKEN_VARIABLE, "")
    if token:
        return await _holder(token, base_dir)
    if not has_terminal(stdin):
        raise RefusedError(
            f"`{command}` acts for the person and needs a terminal\n"
            f"Run it in one, or set {TOKEN_VARIABLE} to a token with the role human (`ui-mcp token create`)."
        )
    return None


async def _holder(token: str, base_dir: str) -> Principal:
    workspace = Workspace.at(base_dir)
    async with open_store(store_url(settings.load(workspace.config_file), workspace)) as store:
        keys = AccessTokens(store)
        token_id = await keys.verify(token)
        holder = await keys.holder(token_id) if token_id else None
    if holder is None or not holder.scopes >= ROLES["human"]:
        raise RefusedError(
            f"{TOKEN_VARIABLE} holds no valid token with the role human for {base_dir}\n"
            "`ui-mcp token list` shows the valid ones; `--dir` names another directory."
        )
    return holder


def open_terminal(what: str) -> IO[str]:
    """Open the controlling terminal for text that must not reach a pipe, file or log.

    Raises:
        RefusedError: there is none.
    """
    try:
        return Path(_TERMINAL[1]).open("w", encoding="utf-8")
    except OSError as error:
        raise RefusedError(f"{what} is shown on a terminal only, and there is none\nRun this in a terminal.") from error
