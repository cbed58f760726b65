"""Templates of pages: values are escaped, missing values are errors, no template is left over."""

import re
from pathlib import Path

import pytest
from jinja2 import UndefinedError

import bythebook.http.pages.home
from bythebook.http.pages.render import render, render_page
from bythebook.http.pages.reply import Notice

FOLDER = Path(bythebook.http.pages.home.__file__).parent / "templates"
NAMES = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.html"))


def test_a_value_is_escaped_in_text_and_in_attributes() -> None:
    shown = render("notice.html", reply=Notice("<b>", "\"'&"))
    assert "&lt;b&gt;" in shown
    assert "&#34;&#39;&amp;" in shown


def test_a_page_without_one_of_its_values_is_an_error() -> None:
    with pytest.raises(UndefinedError, match="message"):
        render_page("failure.html", title="Not found")


def test_only_our_own_style_sheet_is_shown_unescaped() -> None:
    trusted = {
        (name, found)
        for name in NAMES
        for found in re.findall(r"(\w+)\s*\|\s*safe|autoescape", (FOLDER / name).read_text("utf-8"))
    }
    assert trusted == {("ingest_report.html", "style")}


def test_every_template_is_named_in_code_or_in_another_template() -> None:
    sources = [*FOLDER.parents[1].rglob("*.py"), *FOLDER.rglob("*.html")]
    written = "".join(path.read_text("utf-8") for path in sources)
    assert [name for name in NAMES if f'"{name}"' not in written] == []
