"""Keeps the last good documents on disk, so that an API which is down still has its tools."""

import os
import tempfile
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from ui_mcp.compositor.openapi.notes import Notes
from ui_mcp.gateway.openapi.document import Document
from ui_mcp.jsontypes import dumps, loads
from ui_mcp.log import logger

_VERSION = 1
_log = logger("compositor.cache")


@dataclass(frozen=True, slots=True)
class CachedDocument:
    """A document as it was last read."""

    document: Document
    etag: str
    modified: str


class DocumentCache:
    """One file per source, mode 0600; holds documents only, never credentials."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self, source: str) -> CachedDocument | None:
        """Return the last good document of a source, if there is one we can read."""
        try:
            held = loads(self._file(source).read_bytes())
        except (OSError, ValueError):
            return None
        if not isinstance(held, dict) or held.get("version") != _VERSION or held.get("source") != source:
            return None
        match held:
            case {"location": str(where), "files": dict(files), "etag": str(etag), "modified": str(modified)}:
                return CachedDocument(Document(where, files, Notes()), etag, modified) if where in files else None
        return None

    def save(self, source: str, document: Document, *, etag: str = "", modified: str = "") -> None:
        """Replace what is held for a source; failing to, for whatever reason, is only a loss of speed."""
        held = {
            "version": _VERSION,
            "source": source,
            "location": document.location,
            "files": document.files,
            "etag": etag,
            "modified": modified,
        }
        try:
            text = dumps(held)
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor, temporary = tempfile.mkstemp(dir=self._folder)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            Path(temporary).replace(self._file(source))
        except (OSError, TypeError, ValueError) as error:
            _log.warning("cannot write the cache in %s: %s", self._folder, error)

    def _file(self, source: str) -> Path:
        return self._folder / f"{sha256(source.encode()).hexdigest()[:32]}.json"
