"""Audits: how far each statement of a ranking can be trusted."""
