"""A durable conversation between people and agents: one append-only log per conversation, read with a cursor."""
