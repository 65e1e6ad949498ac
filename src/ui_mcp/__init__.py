"""MCP server that gives AI agents a live browser UI, chat, UI automation and an API gateway."""

# Import nothing here: stdout must be reserved for MCP before other modules can print to it.
