"""Reads an app's files and says what is wrong with them, without running anything."""
