"""Approvals: questions to a person that last, are answered once and bind to exactly what was asked."""
