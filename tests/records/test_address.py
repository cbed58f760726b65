from pathlib import Path

import pytest

from bythebook.adapters.sql.engine.address import records_address
from bythebook.errors import InputError

FOLDER = Path("data")


def test_without_an_address_the_records_are_a_file_in_the_data_folder() -> None:
    address = records_address("", FOLDER)
    assert address.file == FOLDER / "records.sqlite"
    assert str(address.url) == "sqlite+aiosqlite:///data/records.sqlite"


@pytest.mark.parametrize("scheme", ["postgresql", "postgresql+asyncpg", "postgres"])
def test_a_server_may_be_written_in_several_ways(scheme: str) -> None:
    address = records_address(f"{scheme}://ada:s3cret@db.example:5433/books", FOLDER)
    assert address.url.drivername == "postgresql+asyncpg"
    assert address.place == "books at db.example:5433"
    assert address.file is None


def test_options_that_other_drivers_know_are_understood() -> None:
    address = records_address(
        "postgresql://ada@db.example/books?sslmode=require&channel_binding=require"
        "&application_name=shop",
        FOLDER,
    )
    assert address.connect["ssl"] == "require"
    assert address.connect["server_settings"]["application_name"] == "shop"
    assert not address.url.query


@pytest.mark.parametrize(
    "url",
    [
        "mysql://ada:s3cret@db.example/books",
        "sqlite:///elsewhere?key=s3cret",
        "ada:s3cret@db.example",
        "postgresql://ada:s3cret@db.example:port/books",
        "postgresql://ada:s3cret@db.example/books?colour=s3cret",
    ],
)
def test_an_address_that_cannot_be_used_is_explained_without_its_password(url: str) -> None:
    with pytest.raises(InputError) as caught:
        records_address(url, FOLDER)
    message = f"{caught.value.what} {caught.value.help_message} {caught.value.__cause__!r}"
    assert "postgresql://user" in message
    assert "s3cret" not in message
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_the_password_is_in_no_representation() -> None:
    address = records_address("postgresql://ada:s3cret@db.example/books", FOLDER)
    assert "s3cret" not in repr(address) + str(address.url)
