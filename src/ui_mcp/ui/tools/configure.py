"""`ui_configure`: switch to another base directory."""

from pydantic import Field, StrictStr, model_validator

from ui_mcp.errors import InvalidArgumentsError
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.toolkit.functions import Args, tool
from ui_mcp.toolkit.tool import Annotations, Call
from ui_mcp.ui.server import UiServer


class ConfigureArgs(Args):
    """Which directory."""

    base_dir: StrictStr = Field(
        description="Directory to work in, absolute or relative to the server's working directory. "
        "Use {project}/.claude/ui unless the user asks for another place."
    )

    @model_validator(mode="before")
    @classmethod
    def _needs_text(cls, given: Json) -> Json:
        if not isinstance(given.get("base_dir"), str) or not given["base_dir"]:
            raise InvalidArgumentsError("base_dir must be a string")
        return given


@tool("ui_configure", ConfigureArgs, title="Choose the UI directory", annotations=Annotations(destructive=True))
async def configure(host: UiServer, args: ConfigureArgs, call: Call) -> JsonObject:
    """Switch the server to another base directory. Rarely needed: the server configures itself at start.

    Creates the directory with its logs, installs the bundled files if it has none, and loads its settings.
    If the UI is running it is stopped: sessions end, and ui_start begins anew. Only directories inside the project
    this server was started for are accepted, and those the user listed. When one cannot be used, nothing changes.
    """
    configured = await host.switch(args.base_dir)
    log = configured.workspace.log
    answer: JsonObject = {
        "status": "configured",
        "base_dir": configured.workspace.given,
        "log_path": str(log / "lua.log"),
        "err_log_path": str(log / "lua-err.log"),
        "install_needed": configured.install_problem is not None,
    }
    if configured.install_problem:
        answer["hint"] = f"{configured.install_problem}; fix that and call ui_install"
    return answer
