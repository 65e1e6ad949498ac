"""Actions of `ui-mcp token` on the store of a workspace."""

import sys
from argparse import Namespace
from contextlib import nullcontext

from anyio import to_thread

from ui_mcp import config as settings
from ui_mcp.app.terminal import open_terminal, person
from ui_mcp.chat.identity import ROLES, AccessTokens
from ui_mcp.chat.message import ts_text
from ui_mcp.chat.service import open_store, store_url
from ui_mcp.processes import run
from ui_mcp.ui.own_files import settle
from ui_mcp.workspace import Workspace


def run_action(options: Namespace) -> int:
    return run(_act, options)


async def _act(options: Namespace) -> int:
    holder = await person(f"ui-mcp token {options.action}", options.dir)
    workspace = Workspace.at(options.dir)
    config = settings.load(workspace.config_file)
    await to_thread.run_sync(settle, workspace)
    async with open_store(store_url(config, workspace)) as store:
        with open_terminal("A link") if options.action == "link" else nullcontext(sys.stdout) as shown:
            shown.writelines(f"{line}\n" for line in await _lines(AccessTokens(store), options))
        by = f"cli:{holder.name}" if holder else "cli"
        await store.audit(by, f"token {options.action}", getattr(options, "name", ""))
    return 0


async def _lines(keys: AccessTokens, options: Namespace) -> list[str]:
    match options.action:
        case "create":
            return [await keys.create(options.name, ROLES[options.role], subscriber=options.subscriber)]
        case "rotate":
            return [await keys.rotate(options.name, options.grace)]
        case "link":
            return [f"{options.url.rstrip('/')}/chat#code={await keys.code(options.name, options.seconds)}"]
        case "revoke":
            await keys.revoke(options.name)
            return [f"{options.name} revoked"]
        case _:
            rows = [
                f"{token.id}  {token.name}  {token.subscriber}  {'good' if good else 'ended'}  "
                f"{ts_text(token.created)}  {' '.join(sorted(token.scopes))}"
                for token, good in await keys.listed()
            ]
            return rows or ["There are no tokens."]
