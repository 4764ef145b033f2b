"""The Django application that holds the models."""

from __future__ import annotations

from django.apps import AppConfig


class CollectConfig(AppConfig):
    """Judging in the browser."""

    name = "adjudge.collect"
    label = "collect"
    default_auto_field = "django.db.models.BigAutoField"
