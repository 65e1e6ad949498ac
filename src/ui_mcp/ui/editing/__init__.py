"""Edits of apps while they run: planned, applied as a whole, loaded, and taken back."""
