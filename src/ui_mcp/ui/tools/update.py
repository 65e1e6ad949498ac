"""`ui_update`: is there a newer release, and are the project's files those of this one?"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from anyio.to_thread import run_sync

from ui_mcp.discovery import lazy
from ui_mcp.errors import ConfigError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.functions import tool
from ui_mcp.toolkit.tool import Annotations, Call
from ui_mcp.ui.installer import install
from ui_mcp.ui.server import UiServer
from ui_mcp.version import Version, bundled_version

# The HTTP client would delay the first list of tools.
if TYPE_CHECKING:
    from ui_mcp.ui.update import newest_release
else:
    newest_release = lazy("ui_mcp.ui.update:newest_release")


@dataclass(frozen=True, slots=True)
class UpdateArgs:
    """How far to go."""

    check: Annotated[bool, "Only report; write nothing."] = False


@tool("ui_update", UpdateArgs, title="Update", annotations=Annotations(destructive=True, open_world=True))
async def update(host: UiServer, args: UpdateArgs, call: Call) -> JsonObject:
    """Bring the project's files to this program's version, and tell if a newer program was released.

    Files the user changed are kept, with the new text beside them as FILE.merge, under `conflicts`. `latest` is asked
    of update.index in the settings; without one, `hint` says so. The program itself is updated by the person.
    """
    configured = host.configured()
    current = bundled_version()
    report: JsonObject = {"current": current}
    try:
        latest = await newest_release(configured.config.update.index)
        known = Version.parse(current)
        newer = known is not None and latest > known
        report |= {"latest": str(latest), "needsUpdate": newer}
        if newer:
            report["hint"] = "The person can install it, the way this one was installed"
    except ConfigError as error:
        report |= {"needsUpdate": False, "hint": error.message}
    if args.check:
        return report
    done = await run_sync(lambda: install(configured.workspace))
    conflicts = [{"path": one.path, "reason": "user_modified", "merge_path": one.merge_path} for one in done.conflicts]
    return {
        **report,
        "updated": done.installed,
        "skipped": done.skipped,
        "conflicts": conflicts,
        "new_version": current,
    }
