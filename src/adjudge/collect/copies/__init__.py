"""Copies of a campaign: backups and what restores them, and the way from one database to another."""
