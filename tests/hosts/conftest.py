"""Real hosts: `make hosts` installs the newest of all and names their folder, other runs install three of them."""

import os

collect_ignore_glob = [] if os.environ.get("UI_MCP_HOSTS") else ["test_manifests.py"]
