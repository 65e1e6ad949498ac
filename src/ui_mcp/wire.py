"""Close codes and notices of a page's connection. Written by scripts/wire.py from contracts/wire.json."""

GOING_AWAY = 1001
"""The server stops."""
RESTARTED = 1012
"""The session's Lua was restarted."""
FELL_BEHIND = 1013
"""The page did not read what was sent."""
SESSION_ENDED = 4001
"""The session is over: the page says so and stays away."""

FINAL = frozenset({SESSION_ENDED})
"""After these a page does not reconnect."""

NOTICE_RESTARTED = "session_restarted"
NOTICE_LOAD_ERROR = "load_error"
NOTICE_LOADED = "load_mended"
NOTICE_ENDED = "session_ended"
