"""Approvals: durable requests to a person, answered once, bound to exactly the request that was shown."""
