"""The person's prompt library: named texts in a file."""

from pathlib import Path

import anyio
from anyio import to_thread

from ui_mcp.errors import InvalidArgumentsError, NotFoundError
from ui_mcp.files import write_atomic
from ui_mcp.jsontypes import dumps, loads

MAX_PROMPTS = 500


class PromptLibrary:
    """Texts by name, kept in one file; what cannot be read of it is left out."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._writing = anyio.Lock()

    async def prompts(self) -> dict[str, str]:
        return await to_thread.run_sync(self._read)

    async def put(self, name: str, text: str) -> None:
        """Store a prompt under a name, which replaces the one that had it.

        Raises:
            InvalidArgumentsError: the library is full.
        """
        async with self._writing:
            known = await self.prompts()
            if name not in known and len(known) >= MAX_PROMPTS:
                raise InvalidArgumentsError(f"The library has {MAX_PROMPTS} prompts already\nDelete one first.")
            await to_thread.run_sync(self._write, {**known, name: text})

    async def remove(self, name: str) -> None:
        """Delete a prompt.

        Raises:
            NotFoundError: there is none with this name.
        """
        async with self._writing:
            known = await self.prompts()
            if name not in known:
                raise NotFoundError(f"There is no prompt {name!r}")
            await to_thread.run_sync(self._write, {key: text for key, text in known.items() if key != name})

    def _read(self) -> dict[str, str]:
        try:
            found = loads(self._file.read_bytes())
        except (OSError, ValueError):
            return {}
        entries = found.items() if isinstance(found, dict) else ()
        return {name: text for name, text in entries if isinstance(text, str)}

    def _write(self, prompts: dict[str, str]) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(self._file, dumps(prompts).encode(), mode=0o600)
