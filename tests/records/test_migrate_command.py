import asyncio
from pathlib import Path

import pytest
from pydantic import SecretStr
from tests.conftest import free_port
from tests.records.conftest import Place

from bythebook.bootstrap import Core
from bythebook.cli import migrating
from bythebook.cli.serving.command import _open_records
from bythebook.errors import RecordsFailed, RecordsOutdated
from bythebook.settings import Settings


def test_migrate_brings_the_records_up_to_date_and_says_so(
    empty_place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BYTHEBOOK_DATABASE_URL", empty_place.url)
    monkeypatch.setenv("BYTHEBOOK_DATA_DIR", str(empty_place.folder))
    migrating.migrate()
    migrating.migrate()
    first, second = capsys.readouterr().out.splitlines()
    assert first == f"The records in {empty_place.address.place} were brought up to date."
    assert second == f"The records in {empty_place.address.place} are up to date."

    async def check() -> None:
        async with empty_place.database() as database:
            await database.check()

    asyncio.run(check())


def test_serving_brings_a_file_up_to_date_and_refuses_a_server_that_is_not(
    empty_place: Place,
) -> None:
    core = Core(Settings(database_url=SecretStr(empty_place.url), data_dir=empty_place.folder))
    if empty_place.address.file is not None:
        asyncio.run(_open_records(core))
        assert empty_place.address.file.is_file()
        return
    with pytest.raises(RecordsOutdated) as caught:
        asyncio.run(_open_records(core))
    assert caught.value.help_message == "Run `bythebook migrate`."


def test_serving_starts_before_its_database_server_does(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    nowhere = SecretStr(f"postgresql://reader@127.0.0.1:{free_port()}/records")
    core = Core(Settings(database_url=nowhere, data_dir=tmp_path))
    asyncio.run(_open_records(core))
    assert "answered 503 until it can" in caplog.text


def test_serving_does_not_start_where_its_records_cannot_be_kept(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file where the folder should be")
    core = Core(Settings(data_dir=tmp_path / "data"))
    with pytest.raises(RecordsFailed):
        asyncio.run(_open_records(core))
