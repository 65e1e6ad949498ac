"""The steps of the tour: every module here is one, with `STEP`; they run in the order of their numbers."""
