"""How far messages got (announced, read by an agent), written down in the background: a receipt delays nobody."""

from typing import get_args

import anyio

from ui_mcp.chat.message import id_text
from ui_mcp.chat.store import ChatStore, Stage
from ui_mcp.errors import ChatError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import logger

_QUIET_SECONDS = 0.05
_MEND_SECONDS = 1.0
_log = logger("chat")


class ReceiptBook:
    """Collects receipts and writes the newest of each kind."""

    def __init__(self, store: ChatStore) -> None:
        self._store = store
        self._waiting: dict[tuple[str, Stage], int] = {}
        self._written: dict[tuple[str, Stage], int] = {}
        self._bell = anyio.Event()
        self._pen = anyio.Lock()

    def note(self, conversation: str, stage: Stage, number: int) -> None:
        """Remember to write a receipt."""
        key = (conversation, stage)
        if number > self._written.get(key, 0):
            self._waiting[key] = max(number, self._waiting.get(key, 0))
            self._bell.set()

    async def run(self) -> None:
        """Write receipts as they come, a burst at once."""
        while True:
            await self._bell.wait()
            self._bell = anyio.Event()
            written = await self.flush()
            await anyio.sleep(_QUIET_SECONDS if written else _MEND_SECONDS)

    async def flush(self) -> bool:
        """Write what waits; say whether it could be written, else it waits on.

        Everything noted before the call is written when this returns, also what another call is about to write.
        """
        async with self._pen:
            waiting, self._waiting = self._waiting, {}
            try:
                for (conversation, stage), number in waiting.items():
                    await self._store.reached(conversation, stage, number)
                self._written |= waiting
            except ChatError as error:
                _log.info("Receipts not written yet: %s", error.message)
                for (conversation, stage), number in waiting.items():
                    self.note(conversation, stage, number)
                return False
            return True

    async def read(self, conversation: str) -> JsonObject:
        """Return the newest id of each stage, absent ones as null."""
        reached = await self._store.receipts(conversation)
        return {stage: id_text(reached[stage]) if stage in reached else None for stage in get_args(Stage)}
