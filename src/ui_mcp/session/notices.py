"""What we tell by ourselves: notices for the person at the page, and system events for the agent."""

from typing import Literal

from ui_mcp.jsontypes import JsonObject, dumps

Level = Literal["info", "warning", "error"]


def notice_frame(level: Level, text: str, code: str) -> str:
    """Return the frame that shows a notice in a page."""
    notice = dumps({"level": level, "text": text, "code": code})
    return dumps({"type": "update", "data": {"varId": 1, "properties": {"notice": notice}}})


def system_event(event: str, facts: JsonObject | None = None) -> str:
    """Return an event of our own, as JSON text."""
    return dumps({**(facts or {}), "app": "ui-mcp", "event": event})
