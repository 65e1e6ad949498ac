"""Finds a regular expression in texts without ever hanging: the search runs in a process that can be killed."""

import re
import sys
from collections.abc import Sequence

import anyio

from ui_mcp.errors import UiArgumentError
from ui_mcp.jsontypes import dumps, loads

SECONDS = 0.1
"""What a search may cost, in time of the processor: a busy machine makes no pattern slow."""
_START_SECONDS = 10.0

_PROGRAM = """
import sys, json, re, signal
pattern, seconds, texts = json.load(sys.stdin)
found = re.compile(pattern)
hasattr(signal, "setitimer") and signal.setitimer(signal.ITIMER_PROF, seconds)
json.dump([text for text in texts if found.search(text)], sys.stdout)
"""


async def found_in(pattern: str, texts: Sequence[str]) -> frozenset[str]:
    """Return the texts in which the pattern is found.

    Raises:
        UiArgumentError: the pattern is wrong, or too slow on these texts.
    """
    try:
        re.compile(pattern)
    except re.error as error:
        raise UiArgumentError(f"Bad regular expression {pattern!r}: {error}") from error
    given = dumps([pattern, SECONDS, sorted(set(texts))]).encode()
    with anyio.move_on_after(_START_SECONDS):
        done = await anyio.run_process([sys.executable, "-I", "-S", "-c", _PROGRAM], input=given, check=False)
        if done.returncode == 0:
            return frozenset(loads(done.stdout))
    raise UiArgumentError(f"The regular expression {pattern!r} takes longer than {SECONDS * 1000:.0f} ms\nSimplify it.")
