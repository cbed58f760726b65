"""What the README promises is there, and what is there stands in the README."""

import re
from collections import Counter
from pathlib import Path

import typer.main
from tools.settings_docs import page

from bythebook.cli import app
from bythebook.settings import PREFIX, Settings

ROOT = Path(__file__).resolve().parents[3]
MOST_MODULES = 16
README = (ROOT / "README.md").read_text("utf-8")


def test_the_page_of_settings_is_up_to_date() -> None:
    assert (ROOT / "docs" / "settings.md").read_text("utf-8") == page()


def test_every_setting_describes_itself() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def test_every_variable_of_the_readme_is_a_setting() -> None:
    named = set(re.findall(rf"{PREFIX}(\w+)", README)) - {""}
    assert named <= {name.upper() for name in Settings.model_fields}


def test_every_command_stands_in_the_readme() -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    assert [name for name in commands if f"bythebook {name}" not in README] == []


def test_every_make_target_of_the_readme_exists() -> None:
    targets = set(
        re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), flags=re.MULTILINE)
    )
    assert set(re.findall(r"`make ([a-z-]+)`", README)) <= targets


def test_every_file_the_readme_links_to_exists() -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", README)
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_architecture_names_every_room() -> None:
    drawn = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    package = ROOT / "src" / "bythebook"
    rooms = {path.parent.name for path in package.rglob("__init__.py")} - {"bythebook", "versions"}
    named = set(re.findall(r"\b([a-z_]+)/", drawn))
    assert rooms - named == set()


def test_no_room_is_crowded() -> None:
    package = ROOT / "src" / "bythebook"
    counts = Counter(
        str(path.parent.relative_to(package))
        for path in package.rglob("*.py")
        if path.name != "__init__.py"
    )
    assert {room: count for room, count in counts.items() if count > MOST_MODULES} == {}


def test_no_requirements_file_names_a_host() -> None:
    for path in (ROOT / "requirements").iterdir():
        assert not re.search(r"https?://|--index-url|--find-links", path.read_text("utf-8")), (
            path.name
        )
