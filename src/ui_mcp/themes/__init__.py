"""Themes: style sheets with a header that says what they are for."""
