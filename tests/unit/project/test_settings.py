from pathlib import Path

import pytest
from pydantic import ValidationError

from bythebook.errors import InputError
from bythebook.settings import Settings, find_unknown_variables, load_settings


@pytest.fixture(autouse=True)
def _away_from_any_env_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BYTHEBOOK_PORT", "eighty"),
        ("BYTHEBOOK_PORT", "0"),
        ("BYTHEBOOK_PORT", "65536"),
        ("BYTHEBOOK_THREADS", "0"),
        ("BYTHEBOOK_PUBLIC_URL", "books.test"),
        ("BYTHEBOOK_PUBLIC_URL", "ftp://books.test"),
    ],
)
def test_a_wrong_value_names_its_variable_and_what_to_do(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match=name) as caught:
        load_settings()
    assert name in caught.value.help_message


def test_values_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BYTHEBOOK_PORT", "9001")
    monkeypatch.setenv("BYTHEBOOK_DATA_DIR", "/srv/books")
    settings = load_settings()
    assert (settings.port, settings.data_dir) == (9001, Path("/srv/books"))


def test_an_env_file_is_read_and_the_environment_overrules_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_text("BYTHEBOOK_PORT=9001\nBYTHEBOOK_HOST=books.test\n", "utf-8")
    monkeypatch.setenv("BYTHEBOOK_PORT", "9002")
    settings = load_settings()
    assert (settings.port, settings.host) == (9002, "books.test")


def test_an_empty_variable_means_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BYTHEBOOK_PORT", "")
    assert load_settings().port == 8000


def test_settings_are_frozen() -> None:
    settings = load_settings()
    with pytest.raises(ValidationError, match="frozen"):
        setattr(settings, "port", 1)  # noqa: B010 - mypy knows that it is frozen


def test_a_misspelt_variable_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BYTHEBOOK_PORT", "9001")
    monkeypatch.setenv("BYTHEBOOK_PROT", "9001")
    assert find_unknown_variables() == ["BYTHEBOOK_PROT"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, "http://127.0.0.1:8000"),
        ({"host": "0.0.0.0", "port": 9001}, "http://127.0.0.1:9001"),
        ({"host": "books.test"}, "http://books.test:8000"),
        ({"host": "::1"}, "http://[::1]:8000"),
        ({"host": "[::1]"}, "http://[::1]:8000"),
        ({"public_url": "https://books.test/ask/"}, "https://books.test/ask"),
    ],
)
def test_reader_links_begin_with_an_address_that_readers_can_open(
    given: dict[str, object], expected: str
) -> None:
    assert Settings(**given).reader_url == expected  # type: ignore[arg-type]


@pytest.mark.parametrize("host", ["::1", "[::1]", "127.0.0.1", "localhost"])
def test_this_machine_is_known_by_each_of_its_names(host: str) -> None:
    assert Settings(host=host).on_loopback
    assert "[" not in Settings(host=host).host  # no socket is bound to a name in brackets


def test_every_setting_is_described() -> None:
    assert all(field.description for field in Settings.model_fields.values())
