"""The recording server of the gateway tests, and the databases of the chat tests."""

from chat.conftest import postgres_server, postgres_url
from gateway.conftest import recorder

__all__ = ["postgres_server", "postgres_url", "recorder"]
