"""Runs Alembic on an open connection, inside its transaction."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy.engine import Connection

import bythebook
from bythebook.adapters.sql.tables import metadata
from bythebook.errors import RecordsFailed


def alembic_config(connection: Connection | None = None) -> Config:
    """Make Alembic's configuration for the revisions in this package."""
    config = Config()
    folder = Path(bythebook.__file__).parent / "migrations"
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    config.attributes["connection"] = connection
    config.attributes["metadata"] = metadata
    return config


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Upgrade the tables to a revision."""
    try:
        command.upgrade(alembic_config(connection), revision)
    except CommandError as error:
        raise RecordsFailed(
            "The records were written by a newer version of ByTheBook.", "Install that version."
        ) from error
