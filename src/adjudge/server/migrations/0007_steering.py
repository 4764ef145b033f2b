"""What organisers decide about a running campaign: paused or closed, and whose tasks have gone to others."""

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    """One more table and one more column; nothing that was stored changes."""

    dependencies: ClassVar = [("collect", "0006_log")]

    operations: ClassVar = [
        migrations.CreateModel(
            name="Halt",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("state", models.CharField(max_length=7)),
                ("since", models.DateTimeField()),
            ],
        ),
        migrations.AddField("annotator", "reassigned", models.BooleanField(default=False)),
    ]
