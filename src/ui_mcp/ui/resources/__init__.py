"""What an agent can read, one family of URIs per module; each offers `provide(host, announcements)`."""
