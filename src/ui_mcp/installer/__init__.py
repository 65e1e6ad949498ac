"""Puts the bundled files into a project and brings them up to date without losing anyone's changes."""
