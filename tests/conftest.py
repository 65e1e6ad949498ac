"""What holds for every test."""

import atexit
import os
import shutil
import tempfile

from hypothesis import settings

# The same examples in every run, however slow: a failure tells of a change, not of luck or of a busy machine.
# Others are drawn by `pytest --hypothesis-profile=default`.
settings.load_profile("ci")

# The account's own secrets (codes, credentials) of tests and of every process they start, instead of the real ones.
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="ui-mcp-state-")
atexit.register(shutil.rmtree, os.environ["XDG_STATE_HOME"], ignore_errors=True)
