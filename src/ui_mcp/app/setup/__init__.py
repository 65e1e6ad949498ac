"""Enters ui-mcp into the configuration of MCP hosts: `ui-mcp setup`."""
