"""The tour in a real browser."""
