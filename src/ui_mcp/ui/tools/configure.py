"""`ui_configure`: switch to another base directory."""

from dataclasses import dataclass
from typing import ClassVar

from ui_mcp.errors import InvalidArgumentsError
from ui_mcp.fields import Rules
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.toolkit.functions import tool
from ui_mcp.toolkit.tool import Annotations, Call
from ui_mcp.ui.base_dir.installer import missing_guidance
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.states import Running


def _require_text(given: Json) -> Json:
    if not isinstance(given.get("base_dir"), str):
        raise InvalidArgumentsError("base_dir must be a string")
    if not given["base_dir"].strip():
        raise InvalidArgumentsError("base_dir must be a string\nAn empty one names no directory.")
    return given


@dataclass(frozen=True, slots=True)
class ConfigureArgs:
    """Which directory."""

    RULES: ClassVar = Rules(before=_require_text)

    base_dir: str


@tool("ui_configure", ConfigureArgs, title="Choose the UI directory", annotations=Annotations(destructive=True))
async def configure(host: UiServer, args: ConfigureArgs, call: Call) -> JsonObject:
    """Switch to another base directory inside the project; ends what runs.

    When: only if the user asks; the server configures itself. Example: {"base_dir": ".ui"}
    """
    configured = await host.switch(args.base_dir)
    log = configured.workspace.log
    answer: JsonObject = {
        "status": "configured",
        "base_dir": configured.workspace.given,
        "log_path": str(log / "lua.log"),
        "err_log_path": str(log / "lua-err.log"),
        "install_needed": False,
    }
    if isinstance(configured, Running):
        answer["hint"] = f"nothing has changed: the UI of this directory runs already, at {configured.url}"
    elif configured.install_problem:
        answer["install_needed"] = True
        answer["hint"] = f"{configured.install_problem}; fix that and call ui_install"
    elif missing := missing_guidance(configured.workspace):
        answer["install_needed"] = True
        answer["hint"] = f"{missing} is missing; ui_install with force=true brings it back"
    return answer
