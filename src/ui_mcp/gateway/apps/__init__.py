"""MCP Apps of mounted servers: pages that belong to a server and call its tools."""
