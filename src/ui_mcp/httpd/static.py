"""Files for browsers: the project's own first, then the bundled ones."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

HASHED = re.compile(r"-[A-Za-z0-9_-]{8,}\.\w+$")


class Files(StaticFiles):
    """Looks for a file in several folders; links may lead anywhere inside `confine`."""

    def __init__(self, folders: Sequence[Path], confine: Sequence[Path]) -> None:
        super().__init__(directory=None, check_dir=False)
        self._folders = folders
        self._confine = [folder.resolve() for folder in confine]

    def lookup_path(self, path: str) -> tuple[str, os.stat_result | None]:
        """Return the first existing regular file."""
        if "\0" in path or ".." in Path(path).parts or Path(path).is_absolute():
            return "", None
        for folder in self._folders:
            found = (folder / path).resolve()
            if found.is_file() and any(found.is_relative_to(root) for root in self._confine):
                return str(found), found.stat()
        return "", None

    def has(self, path: str) -> bool:
        """Say whether there is such a file."""
        return self.lookup_path(path)[1] is not None

    async def serve(self, path: str, scope: Scope) -> Response:
        """Answer with the file, or 304, or 404."""
        response = await self.get_response(path, scope)
        forever = HASHED.search(path) or path.startswith("vendor/")
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable" if forever else "no-cache"
        return response
