"""What an agent can read, one family of URIs per module; each offers `resource_set(host)`."""
