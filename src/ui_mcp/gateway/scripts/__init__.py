"""Code mode: Lua scripts whose calls pass policy, are journalled, and go on after a crash."""
