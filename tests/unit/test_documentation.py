"""What the README promises is there, and what is there stands in the README."""

import re
from pathlib import Path

import typer.main

from bythebook.cli import app
from bythebook.settings import PREFIX, Settings

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")


def test_every_setting_stands_in_the_readme() -> None:
    missing = [
        PREFIX + name.upper()
        for name in Settings.model_fields
        if PREFIX + name.upper() not in README
    ]
    assert missing == []


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


def test_the_tree_of_the_architecture_is_the_tree() -> None:
    drawn = (ROOT / "docs" / "architecture.md").read_text("utf-8").split("```")[1]
    package = ROOT / "src" / "bythebook"
    modules = {path.name for path in package.rglob("*.py") if not path.name.startswith("__")}
    named = set(re.findall(r"\b(\w+\.py)\b", drawn))
    covered_by_their_folder = {
        path.name
        for room in (
            "cli",
            "client",
            "evaluate",
            "domain",
            "adapters/readers",
            "adapters/sql",
            "migrations",
            "ports",
        )
        for path in (package / room).rglob("*.py")
    }
    assert modules - named - covered_by_their_folder == set()
    assert named - modules - {"__main__.py"} == set()


def test_no_requirements_file_names_a_host() -> None:
    for path in (ROOT / "requirements").iterdir():
        assert not re.search(r"https?://|--index-url|--find-links", path.read_text("utf-8")), (
            path.name
        )
