"""The log whose entries and saves are chained by digests. What was stored before is counted and digested as it is."""

from typing import Any, ClassVar

from django.db import migrations, models

from adjudge.server.log import begin_after


def begin_log(apps: Any, editor: Any) -> None:
    """Enter what there is by now; a new database has nothing, and its log begins with its first entry."""
    begin_after(lambda name: apps.get_model("collect", name).objects.using(editor.connection.alias))


class Migration(migrations.Migration):
    """One more table and four columns; nothing that was stored changes."""

    dependencies: ClassVar = [("collect", "0005_processes")]

    operations: ClassVar = [
        migrations.CreateModel(
            name="Entry",
            fields=[
                ("number", models.IntegerField(primary_key=True, serialize=False)),
                ("kind", models.CharField(max_length=9)),
                ("subject", models.TextField()),
                ("content", models.TextField()),
                ("made", models.DateTimeField()),
                ("digest", models.CharField(max_length=64)),
            ],
        ),
        migrations.AddField(model_name="save", name="number", field=models.IntegerField(null=True)),
        migrations.AddField(model_name="save", name="chain", field=models.CharField(default="", max_length=64)),
        migrations.AddField(model_name="screenstate", name="saves", field=models.IntegerField(default=0)),
        migrations.AddField(model_name="screenstate", name="chain", field=models.CharField(default="", max_length=64)),
        migrations.RunPython(begin_log, migrations.RunPython.noop),
    ]
