"""What the security tests share with those of the areas."""

from gateway.conftest import make_target, recorder

__all__ = ["make_target", "recorder"]
