"""A browser without a browser: opens an app, sees its views, clicks and types. For our tests and for those of apps."""
