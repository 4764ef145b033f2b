"""The decisions of adaptive campaigns, and what they are made from."""

from typing import ClassVar

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """Two more tables."""

    dependencies: ClassVar = [("collect", "0002_campaign_scale")]

    operations: ClassVar = [
        migrations.CreateModel(
            name="Draw",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.IntegerField(unique=True)),
                ("made", models.DateTimeField()),
                ("probability", models.FloatField()),
                ("candidates", models.TextField()),
                ("decision", models.TextField()),
                (
                    "assignment",
                    models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, to="collect.assignment"),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Observed",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.IntegerField(unique=True)),
                ("system", models.TextField()),
                ("item", models.TextField()),
                ("value", models.FloatField()),
                ("weight", models.FloatField()),
                ("assignment", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="collect.assignment")),
            ],
        ),
    ]
