"""A line with a wrong number rests on the sentence that says what it says."""

import pytest
from tests.unit.fakes import make_passage

from bythebook.ask.compose.anchor import anchor
from bythebook.domain.answers import Draft

CLEAR = "Quadrupeds have limited reach without an arm."
OTHER = "Wheels are cheap and fast on flat floors."
PASSAGE = make_passage(OTHER, CLEAR)
LINE = "The weakness of quadrupeds is their limited reach."


def test_a_wrong_number_is_put_right() -> None:
    draft = Draft(LINE, ((PASSAGE, OTHER),))
    assert anchor(draft, [PASSAGE]).quotes == ((PASSAGE, CLEAR),)


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        (LINE, ((PASSAGE, CLEAR),)),
        (LINE, ((PASSAGE, OTHER), (PASSAGE, CLEAR))),
        ("Nothing here is about bicycles in Lyon.", ((PASSAGE, OTHER),)),
        (LINE, ()),
        ("It is.", ((PASSAGE, OTHER),)),
    ],
    ids=["right", "right among others", "said nowhere", "cites nothing", "no telling word"],
)
def test_other_lines_keep_their_quotes(text: str, quotes: tuple[tuple[object, str], ...]) -> None:
    assert anchor(Draft(text, quotes), [PASSAGE]).quotes == quotes  # type: ignore[arg-type]
