"""`migrate`: brings the records' tables up to date."""

import asyncio

from bythebook.bootstrap import Core
from bythebook.cli.terminal import say
from bythebook.settings import load_settings


def migrate() -> None:
    """Bring the records database up to date; the file in the data folder is updated automatically."""
    core = Core(load_settings())

    async def run() -> tuple[bool, str]:
        async with core.database() as database:
            return await database.migrate(), database.address.place

    changed, place = asyncio.run(run())
    say(f"The records in {place} {'were brought' if changed else 'are'} up to date.")
