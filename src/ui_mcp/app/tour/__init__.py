"""The tour: a scripted agent that builds an app while the person watches, by real MCP calls to the running server."""
