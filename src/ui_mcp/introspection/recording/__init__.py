"""Records what agents and people do to a UI, as scenarios for `ui_test`."""
