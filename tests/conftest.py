"""What holds for every test."""

from hypothesis import settings

# The same examples in every run, however slow: a failure tells of a change, not of luck or of a busy machine.
# Others are drawn by `pytest --hypothesis-profile=default`.
settings.load_profile("ci")
