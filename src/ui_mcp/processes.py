"""Children that must not outlive us, not even when we are killed: a tiny shell waits at the other end of a pipe."""

import contextlib
import subprocess
import sys
from typing import IO

# `-` forgets a process group, `+` remembers one; when the pipe ends we are gone, and what is left must go too.
_SCRIPT = """
trap '' INT TERM HUP
groups=' '
while read -r sign group; do
  case $sign in
    +) groups="$groups$group " ;;
    -) case "$groups" in *" $group "*) groups="${groups%%" $group "*} ${groups#*" $group "}" ;; esac ;;
  esac
done
[ "$groups" = ' ' ] && exit
for group in $groups; do kill -s TERM -- "-$group" 2>/dev/null; done
sleep 2
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
"""


class Watchdog:
    """Ends the process groups it was told of, once this program is gone."""

    def __init__(self) -> None:
        self._pipe: IO[bytes] | None = None

    def watch(self, group: int) -> None:
        """End `group` if we die."""
        self._tell(f"+ {group}\n")

    def forget(self, group: int) -> None:
        """The group has ended."""
        self._tell(f"- {group}\n")

    def _tell(self, line: str) -> None:
        if sys.platform == "win32":
            return
        # Without the watchdog (killed, or no shell) children still see the end of their input when we go.
        with contextlib.suppress(OSError):
            if self._pipe is None:
                self._pipe = _started()
            self._pipe.write(line.encode())


def _started() -> IO[bytes]:
    process = subprocess.Popen(
        ["/bin/sh", "-c", _SCRIPT],
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    if process.stdin is None:
        raise OSError("the watchdog has no input")
    _running.append(process)
    return process.stdin


_running: list[subprocess.Popen[bytes]] = []
"""Kept for as long as the program lives, so that nobody waits for them."""
WATCHDOG = Watchdog()
