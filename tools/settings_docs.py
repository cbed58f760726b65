"""Writes docs/settings.md from the settings themselves.

python tools/settings_docs.py            write it
python tools/settings_docs.py --check    say whether it is up to date
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args, get_origin

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from bythebook.settings import PREFIX, Settings

TARGET = Path(__file__).parents[1] / "docs" / "settings.md"
INTRODUCTION = """# Settings

Environment variables, or lines of a `.env` file in the folder that `bythebook` starts in. A wrong value
stops the command and names the variable; `bythebook doctor` shows what is set.
This page is generated: `make settings-docs` writes it again.
"""
GROUPS = (
    ("Language model", ("llm_", "allowed_models")),
    ("Embedder", ("embedder",)),
    ("Qdrant server", ("qdrant_",)),
    (
        "Records, limits and load",
        (
            "database_url",
            "limit_",
            "redis_url",
            "max_wait",
            "answers_at_once",
            "grace_",
            "trusted_proxies",
        ),
    ),
    ("Logs and alerts", ("log_", "alert_")),
)
REST = "Service and books"


def page() -> str:
    """Write the page."""
    return INTRODUCTION + "".join(_sections())


def _sections() -> Iterator[str]:
    names = [name for name, _ in GROUPS]
    grouped: dict[str, list[str]] = {name: [] for name in (REST, *names)}
    for name, field in Settings.model_fields.items():
        group = next((group for group, starts in GROUPS if name.startswith(starts)), REST)
        grouped[group].append(_row(name, field))
    for group, rows in grouped.items():
        yield f"\n## {group}\n\n| variable | default | meaning |\n| --- | --- | --- |\n"
        yield "".join(rows)


def _row(name: str, field: FieldInfo) -> str:
    meaning = (field.description or "").rstrip(".")
    if get_origin(field.annotation) is Literal:
        meaning += f" ({', '.join(f'`{value}`' for value in get_args(field.annotation))})"
    return f"| `{PREFIX}{name.upper()}` | {_default(field)} | {meaning}. |\n"


def _default(field: FieldInfo) -> str:
    if field.default_factory is not None:
        return "computed"
    value = field.default
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    if isinstance(value, bool):
        value = str(value).lower()
    return "" if value is None or value == "" else f"`{value}`"


def main() -> None:
    """Write the page, or check it."""
    if "--check" in sys.argv[1:]:
        if TARGET.read_text("utf-8") != page():
            sys.exit("docs/settings.md is out of date: run `make settings-docs`.")
        return
    TARGET.write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
