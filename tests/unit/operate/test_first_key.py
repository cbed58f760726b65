"""The first key of a service that starts where nobody can run `keys create`."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.contracts.fakes import FakeKeys

from bythebook.domain.records import ApiKey, IssuedKey, KeyTerms
from bythebook.errors import InputError, RecordsFailed, Unauthorized
from bythebook.operate.access.first_key import provide_first_key, read_first_key
from bythebook.operate.access.keyring import KeyRing

NOW = datetime(2026, 11, 18, tzinfo=UTC)
SECRET = "f" * 64


def provide(store: FakeKeys) -> bool:
    return asyncio.run(provide_first_key(store, SECRET, NOW))


def open_with_secret(store: FakeKeys) -> ApiKey:
    return asyncio.run(KeyRing(store).open_with(SECRET))


def test_the_key_is_made_once_and_opens_everything() -> None:
    store = FakeKeys()
    assert [provide(store), provide(store)] == [True, False]
    assert len(store.keys) == 1
    assert open_with_secret(store).terms == KeyTerms("admin")


def test_a_revoked_first_key_stays_revoked() -> None:
    store = FakeKeys()
    provide(store)
    (key,) = store.keys.values()
    asyncio.run(store.revoke(key.key_id, NOW))
    assert provide(store) is False
    with pytest.raises(Unauthorized):
        open_with_secret(store)


def test_two_processes_that_start_at_once_make_one_key() -> None:
    class Racing(FakeKeys):
        async def create(
            self, terms: KeyTerms, now: datetime, secret: str | None = None
        ) -> IssuedKey:
            await super().create(terms, now, secret)
            raise RecordsFailed("There is such a key.")

    assert provide(Racing()) is False


def test_records_that_fail_are_no_key() -> None:
    class Failing(FakeKeys):
        async def create(
            self, terms: KeyTerms, now: datetime, secret: str | None = None
        ) -> IssuedKey:
            raise RecordsFailed("The disk is full.")

    with pytest.raises(RecordsFailed):
        provide(Failing())


def test_it_is_read_from_the_variable_or_a_file(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text(f"{SECRET}\n")
    assert read_first_key("", None) == ""
    assert read_first_key(SECRET, None) == read_first_key("", file) == SECRET


@pytest.mark.parametrize("content", [b"", b"short", b"two words " * 5, b"\xff\xfe" * 40, None])
def test_a_key_that_could_be_guessed_or_not_read_is_refused(
    tmp_path: Path, content: bytes | None
) -> None:
    file = tmp_path / "secret"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InputError) as raised:
        read_first_key("", file)
    assert "openssl rand" in raised.value.help_message
    assert "short" not in raised.value.what


def test_a_key_given_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="twice"):
        read_first_key(SECRET, tmp_path / "secret")
