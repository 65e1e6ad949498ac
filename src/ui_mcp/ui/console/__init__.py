"""What the person's page does with the apps of a project: list, create, import and delete them."""

MAX_ARCHIVE = 32 * 1024 * 1024
"""Bytes of an archive; here, because the server needs the number before it imports anything that unpacks."""
