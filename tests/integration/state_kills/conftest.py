"""The PostgreSQL cluster of the store tests serves here too."""

from chat.conftest import postgres_server, postgres_url

__all__ = ["postgres_server", "postgres_url"]
