"""A simulated browser for tests, of ui-mcp and of apps: opens an app, reads its views, clicks and types."""
