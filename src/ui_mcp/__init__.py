"""ui-mcp gives AI agents a face, a voice, eyes and hands. Nothing is imported here: stdout must be reserved first."""
