"""Answering from a phone, off by default: paired devices, web push, and notifications without words or arguments."""
