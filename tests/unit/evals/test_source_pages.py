from pathlib import Path

import pytest
from evals.source_pages import Page, find_words, read_page, split_words

PAGE = """---
title: Not seen
---
(a-label)=
# The `make` command

Run it **in place**, see [the _manual_](https://example.org/a_(b)) and {ref}`targets <make-targets>`.
<!-- not seen -->
**F**indable {cite:ps}`Wilkinson2016` data[^1] in <b>bold</b>.

1. First step
2) Second step

```{code-cell} ipython3
---
tags: [hide-input]
---
# a comment, no heading
x_1 = k**2
```

````{note} Hint
:class: tip
## Inside
```bash
git add -p
```
Shown again.
````

| Term | Value |
| --- | --- |
| one | 1.5 |
"""


@pytest.fixture
def page(tmp_path: Path) -> Page:
    path = tmp_path / "page.md"
    path.write_text(PAGE, "utf-8")
    return read_page(path)


def test_words_are_lower_case_runs_of_letters_and_digits() -> None:
    assert split_words("**Don't** use snake_case: 0.5 µm, Ångström!") == (
        ["don", "t", "use", "snake", "case", "0", "5", "µm", "ångström"]
    )


def test_what_a_reader_never_sees_is_left_out(page: Page) -> None:
    words = " ".join(page.words)
    for unseen in ("title", "label", "example", "org", "wilkinson", "hide", "tip", "make targets"):
        assert unseen not in words


def test_prose_keeps_the_words_that_a_reader_sees(page: Page) -> None:
    for seen in (
        "run it in place see the manual and targets",
        "findable data in bold",
        "first step second step",
        "one 1 5",
        "git add p shown again",
    ):
        assert len(page.find(seen.split())) == 1, seen


def test_a_comment_in_code_is_no_heading(page: Page) -> None:
    titles = [title for title, _, _ in page.sections()]
    assert titles == ["", "The `make` command", "Inside"]
    (code,) = page.find("a comment no heading x 1 k 2".split())
    assert page.section_at(code) == "The `make` command"


def test_a_run_is_looked_for_under_one_heading(page: Page) -> None:
    assert page.find(["shown", "again"], "Inside") != []
    assert page.find(["shown", "again"], "The `make` command") == []


def test_a_run_of_words_is_found_in_a_text_across_its_punctuation() -> None:
    text = "Said İstanbul: “Make -n, please”."
    place = find_words(text, ["make", "n", "please"])
    assert place is not None
    assert text[slice(*place)] == "Make -n, please"


@pytest.mark.parametrize("words", [["make", "please"], ["mak"], ["please", "and", "more"]])
def test_words_that_do_not_stand_in_one_run_are_not_found(words: list[str]) -> None:
    assert find_words("Make -n, please", words) is None
