"""Databases for the tests of collecting, whose tables are made once and copied for every campaign."""

from __future__ import annotations

import atexit
import os
import tempfile
import uuid
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.helpers.warm_command import warm_command

if TYPE_CHECKING:
    from adjudge.server.preparation import NewLink

MIGRATE = """
import sys
from pathlib import Path
from adjudge.server.database import start_django
start_django(Path(sys.argv[1]), database=sys.argv[2] or None, session_hours=24)
from django.db import connections
connections.close_all()
"""


def migrate(campaign: Path, database: str = "") -> None:
    """Make the tables of a campaign that has none yet."""
    run = warm_command().run_code(MIGRATE, campaign, database)
    assert run.code == 0, run.err


@cache
def migrated_campaign() -> Path:
    """Where a campaign would lie whose embedded database has its tables and nothing in them."""
    folder = tempfile.TemporaryDirectory(prefix="adjudge-tests-")
    atexit.register(folder.cleanup)
    campaign = Path(folder.name) / "campaign.toml"
    migrate(campaign)
    return campaign


def postgres_url(*, with_tables: bool = True) -> str | None:
    """The PostgreSQL server that `pg_virtualenv -t` has started, with a new database on it; None without one."""
    if "PGHOST" not in os.environ:
        return None
    return _new_postgres_database(_migrated_postgres() if with_tables else "template1")


def needed_postgres_url(*, with_tables: bool = True) -> str:
    """The same for a test that cannot do without the server; the test is skipped where there is none."""
    url = postgres_url(with_tables=with_tables)
    if url is None:
        pytest.skip("there is no PostgreSQL server: PGHOST is not set; run under pg_virtualenv -t")
    return url


@cache
def _migrated_postgres() -> str:
    """The name of a database that has its tables and nothing in them: copying it is quicker than making them."""
    url = _new_postgres_database("template1")
    with tempfile.TemporaryDirectory(prefix="adjudge-tests-") as folder:
        migrate(Path(folder) / "campaign.toml", url)
    return url.rpartition("/")[2]


def _new_postgres_database(template: str) -> str:
    import psycopg

    name = f"adjudge_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(dbname="postgres", autocommit=True) as connection:
        for attempt in range(60):
            try:
                connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
                break
            except psycopg.errors.ObjectInUse:
                # On a busy machine those who made the template are seen for some time after they have gone.
                if attempt == 59:
                    raise
    user, password = os.environ["PGUSER"], os.environ["PGPASSWORD"]
    return f"postgres://{user}:{password}@{os.environ['PGHOST']}:{os.environ['PGPORT']}/{name}"


OLDER = """
import sys
from pathlib import Path
from adjudge.server.archives import create_database
with create_database(None, Path(sys.argv[1]), "0003_draws") as target:
    manager = target.models["campaign"]._default_manager.using(target.connection.alias)
    from django.utils import timezone
    from adjudge.campaigns.campaign_file import load_campaign
    from adjudge.campaigns.design import design
    from adjudge.campaigns.tasks import to_json
    campaign = load_campaign(Path(sys.argv[2]))
    tasks = design(campaign)
    manager.create(name=campaign.name, tasks=to_json(tasks), fingerprint=tasks.fingerprint, created=timezone.now())
"""


def open_campaign(campaign: Path, database: str | None = None, *, new_links: bool = False) -> list[NewLink]:
    """Make a campaign ready in this process, as a server does; returns the links that were made."""
    from adjudge.server.serve import Address, Opened, Place, open_campaigns

    opened: list[Opened] = []
    open_campaigns(
        [Place(campaign)],
        opened,
        address=Address("127.0.0.1", 1),
        tasks_file=None,
        databases=[database],
        new_links=new_links,
        statistics_of=lambda _, __: None,
    )
    return opened[0].links
