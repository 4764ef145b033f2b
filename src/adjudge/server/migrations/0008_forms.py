"""Forms that people fill in before they judge, and a random number for every person."""

from typing import Any, ClassVar

import django.db.models.deletion
from django.db import migrations, models

from adjudge.server.models import random_number


def draw_numbers(apps: Any, schema: Any) -> None:
    """Give everybody a number of their own: the default was drawn once for all rows."""
    for person in apps.get_model("collect", "Annotator").objects.using(schema.connection.alias).all():
        person.number = random_number()
        person.save(update_fields=["number"])


class Migration(migrations.Migration):
    """One more table and one more column; nothing that was stored changes."""

    dependencies: ClassVar = [("collect", "0007_steering")]

    operations: ClassVar = [
        migrations.AddField("annotator", "number", models.BigIntegerField(default=random_number)),
        migrations.RunPython(draw_numbers, migrations.RunPython.noop),
        migrations.CreateModel(
            name="FilledForm",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("agreed", models.DateTimeField()),
                ("consent", models.CharField(default="", max_length=64)),
                ("answers", models.TextField(default="{}")),
                ("personal", models.TextField(default="{}")),
                (
                    "annotator",
                    models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, to="collect.annotator"),
                ),
            ],
        ),
    ]
