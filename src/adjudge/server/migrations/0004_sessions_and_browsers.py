"""Ended sessions, the browsers of crowd workers, what the tasks were made from, and when writing was tried."""

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    """Four additions; nothing that was stored changes."""

    dependencies: ClassVar = [("collect", "0003_draws")]

    operations: ClassVar = [
        migrations.CreateModel(
            name="EndedSession",
            fields=[
                ("id", models.CharField(max_length=32, primary_key=True, serialize=False)),
                ("ended", models.DateTimeField()),
            ],
        ),
        migrations.AddField(
            model_name="annotator", name="browser_hash", field=models.CharField(default="", max_length=64)
        ),
        migrations.AddField(model_name="campaign", name="settings", field=models.TextField(default="")),
        migrations.AddField(model_name="campaign", name="checked", field=models.DateTimeField(null=True)),
    ]
