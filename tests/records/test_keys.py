import hashlib
import uuid
from datetime import timedelta

import pytest
from sqlalchemy import select
from tests.records.samples import NOON

from bythebook.adapters.sql.engine.database import Database
from bythebook.adapters.sql.keys import SqlKeyStore
from bythebook.adapters.sql.tables import api_keys
from bythebook.domain.records import KeyTerms, key_hash
from bythebook.errors import RecordsFailed

pytestmark = pytest.mark.anyio
ASK = KeyTerms(
    "ask",
    books=("robots",),
    origins=("https://example.org", "https://docs.example.org"),
    limit_per_minute=30,
    expires_at=NOON + timedelta(days=1),
)


@pytest.fixture
def keys(database: Database) -> SqlKeyStore:
    return SqlKeyStore(database)


async def test_a_key_is_found_by_the_hash_of_its_secret(keys: SqlKeyStore) -> None:
    issued = await keys.create(ASK, NOON)
    assert await keys.find(hashlib.sha256(issued.secret.encode()).hexdigest()) == issued.key
    assert issued.key.terms == ASK
    assert await keys.find(key_hash(issued.secret + "x")) is None
    assert await keys.find("") is None


async def test_a_key_without_bounds_has_none(keys: SqlKeyStore) -> None:
    issued = await keys.create(KeyTerms("admin"), NOON)
    found = await keys.find(key_hash(issued.secret))
    assert found is not None
    assert found.terms == KeyTerms("admin", None, None, None, None)


async def test_a_key_for_no_book_is_not_one_for_all(keys: SqlKeyStore) -> None:
    issued = await keys.create(KeyTerms("ask", books=()), NOON)
    found = await keys.find(key_hash(issued.secret))
    assert found is not None
    assert found.terms.books == ()


async def test_the_secret_is_kept_nowhere_and_only_its_beginning_is_shown(
    keys: SqlKeyStore, database: Database
) -> None:
    issued = await keys.create(ASK, NOON)
    async with database.begin_read() as connection:
        (row,) = (await connection.execute(select(api_keys))).all()
    assert issued.secret not in repr(tuple(row))
    assert issued.secret[12:] not in repr(tuple(row)) + repr(issued)
    assert row.prefix == issued.secret[:12] == issued.key.prefix
    assert len(issued.secret) == len("btb_") + 43  # 256 bits


async def test_all_keys_are_listed_oldest_first_revoked_ones_too(keys: SqlKeyStore) -> None:
    assert list(await keys.list()) == []
    later = (await keys.create(ASK, NOON + timedelta(hours=1))).key
    first = (await keys.create(KeyTerms("admin"), NOON)).key
    await keys.revoke(first.key_id, NOON)
    assert [key.key_id for key in await keys.list()] == [first.key_id, later.key_id]


async def test_a_revoked_key_stays_revoked_from_the_first_time_on(keys: SqlKeyStore) -> None:
    issued = await keys.create(ASK, NOON)
    assert issued.key.usable_at(NOON)
    assert await keys.revoke(issued.key.key_id, NOON) is True
    assert await keys.revoke(issued.key.key_id, NOON + timedelta(1)) is True
    found = await keys.find(key_hash(issued.secret))
    assert found is not None
    assert found.revoked_at == NOON
    assert not found.usable_at(NOON)
    assert await keys.revoke(uuid.uuid4(), NOON) is False


async def test_a_key_is_of_no_use_from_the_moment_it_expires(keys: SqlKeyStore) -> None:
    key = (await keys.create(ASK, NOON)).key
    assert key.usable_at(NOON + timedelta(days=1, microseconds=-1))
    assert not key.usable_at(NOON + timedelta(days=1))


async def test_a_scope_that_is_none_is_refused(keys: SqlKeyStore) -> None:
    with pytest.raises(RecordsFailed):
        await keys.create(KeyTerms("root"), NOON)  # type: ignore[arg-type]
