"""Who is at work on the database: servers that run, and a move under way."""

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    """One more table; nothing that was stored changes."""

    dependencies: ClassVar = [("collect", "0004_sessions_and_browsers")]

    operations: ClassVar = [
        migrations.CreateModel(
            name="Process",
            fields=[
                ("id", models.CharField(max_length=32, primary_key=True, serialize=False)),
                ("machine", models.TextField()),
                ("number", models.BigIntegerField()),
                ("doing", models.CharField(max_length=5)),
                ("url", models.TextField(default="")),
                ("seen", models.DateTimeField()),
            ],
        ),
    ]
