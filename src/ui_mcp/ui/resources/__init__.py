"""MCP resources of the UI server, one family of URIs per module; each defines `provide(host, announcements)`."""
