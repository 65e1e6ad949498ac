"""Live lines of `ui-mcp serve`: what clients, pages and reloads do, for a person who watches the terminal."""

import logging
import sys
from time import strftime

from ui_mcp.log import ROOT, logger, one_line
from ui_mcp.terminal_style import style_of

SHOWN = ("mcp", "session", "sessions")
"""Loggers of calls and clients, of pages, and of reloads."""


class _LiveHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        style, text = style_of(), self.format(record)
        time = style.paint(strftime("%H:%M:%S"), "dim")
        sys.stdout.write(f"{time}  {style.paint(text, 'red') if ' failed' in text else text}\n")
        sys.stdout.flush()


def show_live_lines() -> None:
    """Write records of those loggers to stdout as they happen; other handlers get what they got before."""
    root, handler = logging.getLogger(ROOT), _LiveHandler(logging.INFO)
    handler.setFormatter(one_line("%(message)s"))
    shown_elsewhere = root.level
    for other in root.handlers:
        other.addFilter(lambda record: record.levelno >= shown_elsewhere)
    for name in SHOWN:
        logger(name).setLevel(min(logging.INFO, root.level))
        logger(name).addHandler(handler)
