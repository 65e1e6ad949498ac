"""Documents written for the tests, and the real ones a folder may hold."""

import os
from pathlib import Path

from ui_mcp.gateway.config.parse import is_openapi, parse

HERE = Path(__file__).parent
HARBOUR = HERE / "harbour.yaml"


def documents() -> list[Path]:
    """Our documents; with UI_MCP_OPENAPI_DIR set, every real one in that folder too."""
    found = [HARBOUR, *sorted((HERE / "split").glob("root.json"))]
    folder = os.environ.get("UI_MCP_OPENAPI_DIR")
    if folder:
        endings = {".json", ".yaml", ".yml"}
        files = [path for path in sorted(Path(folder).rglob("*")) if path.suffix in endings and _is_root(path)]
        found += files
    return found


def _is_root(path: Path) -> bool:
    return is_openapi(parse(path.read_bytes()))
