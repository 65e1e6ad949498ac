"""Logging set-up: one line per record on stderr and in `{base_dir}/log/mcp.log`, never on stdout."""

import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from ui_mcp.files import open_inside

ROOT = "ui_mcp"
OPERATIONS, VALUES = 8, 6
"""Levels below DEBUG: operations of sessions, and what is in them."""
_LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG, OPERATIONS, VALUES)
"""By verbosity: 1 start, stop, connections and calls, 2 messages, 3 operations of sessions, 4 values."""
logging.addLevelName(OPERATIONS, "OPERATION")
logging.addLevelName(VALUES, "VALUE")
_masks: list[Callable[[str], str]] = []


@contextmanager
def masking(mask: Callable[[str], str]) -> Iterator[None]:
    """Pass the text of every record through `mask` during the block, so that logs contain no secrets."""
    _masks.append(mask)
    try:
        yield
    finally:
        _masks.remove(mask)


class _OneLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        # One line per record: text of others in a message must not look like further records.
        text = super().format(record).replace("\r", "").replace("\n", " | ")
        for mask in _masks:
            text = mask(text)
        return text


def one_line(layout: str) -> logging.Formatter:
    """Return a formatter that writes each record on one line, with secrets masked."""
    return _OneLine(layout)


def logger(name: str) -> logging.Logger:
    """Return the logger `ui_mcp.NAME`."""
    return logging.getLogger(f"{ROOT}.{name}")


class _ForwardingHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        logging.getLogger(ROOT).handle(record)


def adopt(library: str, level: int = logging.WARNING) -> None:
    """Send a library's records to our handlers instead of its own."""
    adopted = logging.getLogger(library)
    adopted.handlers = [_ForwardingHandler(level)]
    adopted.propagate = False


def to_stderr(verbosity: int = 0) -> None:
    """Send records to stderr; at verbosity 0 only warnings and errors."""
    root = logging.getLogger(ROOT)
    root.propagate = False
    set_verbosity(verbosity)
    # The exact type, because file handlers are StreamHandlers too.
    if not any(type(handler) is logging.StreamHandler for handler in root.handlers):
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(_OneLine("%(levelname)s %(name)s: %(message)s"))
        root.addHandler(handler)


def set_verbosity(verbosity: int) -> None:
    """Log more or less from now on, to stderr and to the file; 0 are warnings and errors, 4 is everything."""
    logging.getLogger(ROOT).setLevel(_LEVELS[min(verbosity, len(_LEVELS) - 1)])


def only_errors() -> None:
    """Log errors only, for commands that report warnings themselves."""
    logging.getLogger(ROOT).setLevel(logging.ERROR)


class _PrivateFileHandler(RotatingFileHandler):
    def _open(self) -> TextIOWrapper:
        path = Path(self.baseFilename)
        descriptor = open_inside(path.parents[1], path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        return os.fdopen(descriptor, "a", encoding=self.encoding)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 (logging's name)
        # Ignore OSError: stderr has the record, and a full disk must not print a traceback per record.
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)


def to_file(path: Path) -> None:
    """Also append records to `path`, instead of an earlier log file; rotates once at 10 MB.

    Raises:
        LinkError: the file or its folder is a link; records go to stderr only.
    """
    stop_file()
    root = logging.getLogger(ROOT)
    # The handler opens the file only at its first record: a link must fail here.
    os.close(open_inside(path.parents[1], path, os.O_WRONLY | os.O_APPEND | os.O_CREAT))
    handler = _PrivateFileHandler(path, maxBytes=10_000_000, backupCount=1, encoding="utf-8", delay=True)
    handler.setFormatter(_OneLine("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root.addHandler(handler)


def stop_file() -> None:
    root = logging.getLogger(ROOT)
    for old in [handler for handler in root.handlers if isinstance(handler, RotatingFileHandler)]:
        root.removeHandler(old)
        old.close()
