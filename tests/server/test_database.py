"""The database: its migrations hold what the models say, and its address is understood or explained."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.server.database import database_settings, is_postgres
from adjudge.table.errors import UsageError
from tests.helpers.databases import needed_postgres_url
from tests.helpers.warm_command import warm_command

CHECK = """
import sys
from pathlib import Path
import django
from django.conf import settings
from django.core.management import call_command
from adjudge.server.database import database_settings
settings.configure(
    DATABASES={"default": database_settings(None, Path(sys.argv[1]))},
    INSTALLED_APPS=["adjudge.server"],
    USE_TZ=True,
)
django.setup()
call_command("makemigrations", "collect", "--check", "--dry-run")
"""

# Asked inside of a transaction that writes, in a database whose own setting is another one.
DURABLE = """
import sys
from pathlib import Path
from adjudge.server.database import start_django, write_transaction
start_django(Path(sys.argv[1]), database=sys.argv[2], session_hours=24)
from django.db import connection
with connection.cursor() as cursor:
    cursor.execute(f'ALTER DATABASE "{connection.settings_dict["NAME"]}" SET synchronous_commit = off')
connection.close()
with write_transaction(), connection.cursor() as cursor:
    cursor.execute("SHOW synchronous_commit")
    print(cursor.fetchone()[0])
"""


@pytest.mark.postgres
@pytest.mark.parametrize("pooling", ["", "?pooling=transaction"])
def test_postgresql_has_a_save_on_the_disk_whatever_the_database_is_set_to(pooling: str, tmp_path: Path) -> None:
    run = warm_command().run_code(DURABLE, tmp_path / "campaign.toml", needed_postgres_url() + pooling)
    assert (run.code, run.out) == (0, "on\n"), run.err


def test_the_migrations_hold_what_the_models_say(tmp_path: Path) -> None:
    run = warm_command().run_code(CHECK, tmp_path / "x.sqlite3")
    assert run.code == 0, run.out + run.err


def test_an_address_of_postgresql_is_taken_apart(tmp_path: Path) -> None:
    settings = database_settings("postgres://ann:s%40cret@db.example:5433/judge?sslmode=require", tmp_path)
    assert (settings["USER"], settings["PASSWORD"], settings["HOST"]) == ("ann", "s@cret", "db.example")
    assert (settings["PORT"], settings["NAME"]) == ("5433", "judge")
    assert settings["OPTIONS"]["sslmode"] == "require"
    assert settings["OPTIONS"]["options"] == "-c synchronous_commit=on"
    assert is_postgres("postgresql://x/y")


@pytest.mark.parametrize("url", ["mysql://x/y", "postgres://host", "nonsense"])
def test_another_address_is_explained(url: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=url):
        database_settings(url, tmp_path)
