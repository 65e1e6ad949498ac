"""Build hook: builds missing or stale assets, and puts the examples and a README with the right version into wheels."""

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).parent / "scripts"))

import assets
from version import stamped


class AssetsHook(BuildHookInterface):
    """Runs before a wheel, an sdist or an editable install is made."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the assets and add the README to a wheel; `version` is the kind of build, not a number."""
        if os.environ.get("UI_MCP_ASSETS") != "apart" or version != "editable":  # then `make` builds them meanwhile
            self._build(version)
        if self.target_name == "wheel" and version != "editable":
            build_data["force_include"][str(self._readme())] = "ui_mcp/bundle/base/README.md"
            for app in sorted((Path(self.root) / "examples").glob("*/app.lua")):
                build_data["force_include"][str(app.parent)] = f"ui_mcp/examples/{app.parent.name}"

    def _build(self, version: str) -> None:
        try:
            assets.ensure(agent_optional=version == "editable")
        except assets.BuildError as error:
            raise SystemExit(f"\n{error}\n") from None

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the scratch copy of the README."""
        for source in build_data.get("force_include", {}):
            if Path(source).parent.name.startswith("ui-mcp-build-"):
                Path(source).unlink(missing_ok=True)
                Path(source).parent.rmdir()

    def _readme(self) -> Path:
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        copy = Path(tempfile.mkdtemp(prefix="ui-mcp-build-")) / "README.md"
        copy.write_text(stamped(text, self.metadata.version), encoding="utf-8")
        return copy
