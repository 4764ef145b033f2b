"""The first tables."""

from typing import ClassVar

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """People, links, tasks in hand, screens, saves and decisions."""

    initial = True

    dependencies: ClassVar = []

    operations: ClassVar = [
        migrations.CreateModel(
            name="Annotator",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=200, unique=True)),
                ("created", models.DateTimeField()),
                ("excluded", models.BooleanField(default=False)),
                ("crowd", models.BooleanField(default=False)),
            ],
        ),
        migrations.CreateModel(
            name="Campaign",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.TextField()),
                ("tasks", models.TextField()),
                ("fingerprint", models.CharField(max_length=12)),
                ("created", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Assignment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("task", models.CharField(db_index=True, max_length=200)),
                ("position", models.IntegerField()),
                ("taken", models.DateTimeField()),
                ("lease_until", models.DateTimeField(null=True)),
                ("released", models.DateTimeField(null=True)),
                ("complete", models.BooleanField(default=False)),
                ("finished", models.DateTimeField(null=True)),
                ("annotator", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="collect.annotator")),
            ],
        ),
        migrations.CreateModel(
            name="Decision",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("excluded", models.BooleanField()),
                ("reason", models.TextField()),
                ("who", models.CharField(max_length=200)),
                ("made", models.DateTimeField()),
                ("annotator", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="collect.annotator")),
            ],
        ),
        migrations.CreateModel(
            name="Link",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("role", models.CharField(max_length=9)),
                ("label", models.CharField(max_length=200)),
                ("secret_hash", models.CharField(max_length=64, unique=True)),
                ("created", models.DateTimeField()),
                ("expires", models.DateTimeField()),
                ("revoked", models.DateTimeField(null=True)),
                ("last_entered", models.DateTimeField(null=True)),
                (
                    "annotator",
                    models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, to="collect.annotator"),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ScreenState",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("screen", models.CharField(max_length=200)),
                ("revision", models.IntegerField(default=0)),
                ("answers", models.TextField(default="{}")),
                ("judged", models.IntegerField(default=0)),
                ("complete", models.BooleanField(default=False)),
                ("first_shown", models.DateTimeField()),
                ("shown_seconds", models.FloatField(default=0)),
                ("visible_seconds", models.FloatField(default=0)),
                ("active_seconds", models.FloatField(default=0)),
                ("assignment", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="collect.assignment")),
            ],
        ),
        migrations.CreateModel(
            name="Save",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("revision", models.IntegerField(null=True)),
                ("changes", models.TextField()),
                ("digest", models.CharField(max_length=16)),
                ("edited", models.DateTimeField()),
                ("received", models.DateTimeField()),
                ("spent", models.TextField()),
                ("events", models.TextField()),
                ("state", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="collect.screenstate")),
            ],
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.UniqueConstraint(fields=("annotator", "task"), name="once_per_person"),
        ),
        migrations.AddConstraint(
            model_name="screenstate",
            constraint=models.UniqueConstraint(fields=("assignment", "screen"), name="one_state_per_screen"),
        ),
        migrations.AddConstraint(
            model_name="save",
            constraint=models.UniqueConstraint(
                condition=models.Q(("revision__isnull", False)),
                fields=("state", "revision"),
                name="revision_given_once",
            ),
        ),
    ]
