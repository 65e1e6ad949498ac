"""`python -m ui_mcp` is `ui-mcp`."""

import sys

from ui_mcp.cli.entry import main

if __name__ == "__main__":
    sys.exit(main())
