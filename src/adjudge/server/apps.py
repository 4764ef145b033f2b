"""The Django application of the annotation server."""

from django.apps import AppConfig


class Server(AppConfig):
    """The label is older than the package's name: tables and migrations are named after it."""

    name = "adjudge.server"
    label = "collect"
