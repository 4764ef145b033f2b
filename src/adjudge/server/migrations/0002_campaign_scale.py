"""The scale that people judge on, so that it cannot change under them unnoticed."""

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    """One more column; it is filled at the next start."""

    dependencies: ClassVar = [("collect", "0001_initial")]

    operations: ClassVar = [
        migrations.AddField(model_name="campaign", name="scale", field=models.CharField(default="", max_length=100)),
    ]
