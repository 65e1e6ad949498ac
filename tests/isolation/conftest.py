"""What these tests share with those of the areas."""

from agent.conftest import served
from gateway.conftest import make_target, recorder

__all__ = ["make_target", "recorder", "served"]
