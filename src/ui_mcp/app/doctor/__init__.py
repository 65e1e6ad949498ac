"""`ui-mcp doctor`: looks at the machine and the project, changes nothing, and says how to mend what is wrong."""

from ui_mcp.cli.doctor import machine, project
from ui_mcp.cli.doctor.findings import Finding
from ui_mcp.workspace import Workspace


async def examine(base_dir: str) -> list[Finding]:
    """Return every finding, the machine's first; each is made even when another one is bad."""
    workspace = Workspace.at(base_dir)
    return [*await machine.findings(), *await project.findings(workspace)]
