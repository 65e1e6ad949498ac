"""Hints that something has changed, for those who would have to look for it again and again."""
