"""Files and apps that could not be loaded: told to page and agent, and taken back when they can be again."""

from ui_mcp.jsontypes import JsonObject
from ui_mcp.session.notices import system_event
from ui_mcp.session.pages import Pages
from ui_mcp.ui.sessions.events import EventQueue
from ui_mcp.wire import NOTICE_LOAD_ERROR, NOTICE_LOADED


class LoadProblems:
    """What one session could not load."""

    def __init__(self, vended: str, events: EventQueue, pages: Pages) -> None:
        self._vended = vended
        self._events = events
        self._pages = pages
        self._shown: dict[str, str] = {}
        """What pages were told about a file."""

    def failed(self, problem: JsonObject) -> None:
        """Tell page and agent; `file` or `name` says what could not be loaded, and `message` why."""
        file, message = str(problem.get("file", "")), str(problem.get("message", "An app could not be loaded"))
        self.mended(file)
        self._events.push_system(system_event("load_error", {"session": self._vended, **problem}))
        self._pages.tell("error", message, NOTICE_LOAD_ERROR)
        if file:
            self._shown[file] = message

    def mended(self, file: str) -> None:
        """Take back what pages were told about a file."""
        message = self._shown.pop(file, None)
        if message is not None:
            self._pages.tell("info", message, NOTICE_LOADED)
