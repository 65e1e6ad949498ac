"""Which processes exist."""

import os
import subprocess
import sys

from ui_mcp.processes import pid_exists


def test_a_process_exists_until_it_is_reaped() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        before = pid_exists(child.pid)

    assert (before, pid_exists(child.pid), pid_exists(os.getpid())) == (True, False, True)


def test_a_number_that_is_no_process_id_names_no_process() -> None:
    assert [pid_exists(number) for number in (0, -1, 10**30)] == [False, False, False]
