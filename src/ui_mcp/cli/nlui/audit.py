"""`nlui audit`: prints the log of calls as JSON Lines or CSV."""

import argparse
import csv
import io
import re
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta

from ui_mcp.errors import ConfigError, InvalidArgumentsError
from ui_mcp.gateway.audit import audit_file, lines
from ui_mcp.gateway.config.configuration import GatewayOptions, configuration
from ui_mcp.gateway.config.settings import GatewaySettings
from ui_mcp.jsontypes import JsonObject, dumps

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}

_COLUMNS = (
    *("ts", "id", "principal", "client", "source", "tool", "method", "url", "outcome", "approval_id", "status"),
    *("is_error", "ms", "bytes_in", "bytes_out", "args_digest", "args"),
)


def printed(settings: GatewaySettings, since: str, form: str, count: int | None) -> Iterator[str]:
    """Yield the lines to print: those since a time, and only the last `count` of them if given.

    Raises:
        ConfigError: there is no log.
        InvalidArgumentsError: `since` is neither a time nor an age.
    """
    file = audit_file(settings, settings.data_folder)
    if not file.is_file():
        raise ConfigError(f"There is no log {file}\nNothing was called yet, or audit.level is off.")
    start = _start(since, datetime.now(UTC))
    found: Iterable[JsonObject] = (line for line in lines(file) if str(line.get("ts", "")) >= start)
    if count is not None:
        found = deque(found, maxlen=max(count, 0))
    return _table(found) if form == "csv" else (dumps(line) for line in found)


def _start(since: str, now: datetime) -> str:
    """Convert a time, or an age before `now`, to the format of the log."""
    if not since:
        return ""
    age = re.fullmatch(r"(\d{1,6})([smhd])", since)
    try:
        moment = now - timedelta(**{_UNITS[age[2]]: int(age[1])}) if age else datetime.fromisoformat(since)
    except ValueError as error:
        raise InvalidArgumentsError(f"--since {since!r} is neither an ISO 8601 time nor an age such as 12h") from error
    aware = moment if moment.tzinfo else moment.astimezone()
    return aware.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _table(found: Iterable[JsonObject]) -> Iterator[str]:
    yield _row(_COLUMNS)
    for line in found:
        values = (line.get(name) for name in _COLUMNS)
        yield _row(["" if value is None else value if isinstance(value, str) else dumps(value) for value in values])


def _row(values: Iterable[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow([_inert(value) for value in values])
    return text.getvalue()


def _inert(value: str) -> str:
    # A spreadsheet would run a cell that begins like this as a formula.
    return f"'{value}" if value[:1] in {"=", "+", "-", "@", "\t", "\r"} else value


def _audit(options: argparse.Namespace) -> int:
    count = options.count if options.action == "tail" else None
    read = configuration(GatewayOptions(options.source))
    if read.not_agreed:
        print(f"nlui: {read.not_agreed}", file=sys.stderr)
    for line in printed(read.settings, options.since, options.format, count):
        print(line)
    return 0
