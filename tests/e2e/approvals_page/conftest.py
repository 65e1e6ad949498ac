"""The recording server of the compositor tests."""

from compositor.conftest import recorder

__all__ = ["recorder"]
