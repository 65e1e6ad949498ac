"""Carries a session over pipes: one message per line."""

from ui_mcp.jsonrpc import messages
from ui_mcp.jsonrpc.pipes import LineSplitter, OversizedLine, Writer
from ui_mcp.jsontypes import JsonObject
from ui_mcp.mcp_client.session import Session

SHOWN_GARBAGE = 200


class StdioWire:
    """Writes messages to a server's stdin."""

    closing_cancels = False

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def send(self, message: JsonObject) -> None:
        self._writer.write(messages.encode(message) + b"\n")

    def abandon(self, number: int) -> None:
        """Do nothing: responses share one pipe, and a late one is passed over."""

    async def flush(self) -> None:
        """Do nothing: a pipe keeps the order of what is written to it."""


class StdoutReader:
    """Splits a server's stdout into messages for its session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._report = session.handlers.stderr
        self._splitter = LineSplitter()

    def take(self, chunk: bytes) -> None:
        """Handle output of the server; empty bytes mean that it closed the pipe."""
        for line in self._splitter.feed(chunk) if chunk else self._splitter.end():
            if isinstance(line, OversizedLine):
                self._report("(a message that is too long was passed over)")
            else:
                self._take_line(line)
        if not chunk:
            self._session.end()

    def _take_line(self, line: bytes) -> None:
        try:
            self._session.receive(line)
        except ValueError:
            self._report(f"(not a message) {line[:SHOWN_GARBAGE].decode('utf-8', 'replace')}")
