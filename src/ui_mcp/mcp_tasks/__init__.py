"""The extension `io.modelcontextprotocol/tasks` for servers of `mcp_server`."""
