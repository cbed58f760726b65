"""Citations of the sample book after scripted edits: a small run of what `make citations` measures."""

from evals.citations import choose_cited, measure, read_book, revise

from bythebook.bootstrap import sample_book

WRONG = "opened elsewhere without saying so"


def share(tally: dict[str, int], *verdicts: str) -> float:
    return sum(tally.get(one, 0) for one in verdicts) / sum(tally.values())


def test_citations_open_where_their_words_went_and_none_elsewhere_unsaid() -> None:
    book, cited = read_book(sample_book())
    older = revise(book, edits=200, editions=2, seed=3)
    cited = choose_cited(cited, book, most=400, seed=3)
    for kept in (older, []):
        tallies = measure(book, cited, kept, show=False)
        opened = share(tallies["standing"], "opened", "opened, said to be moved")
        assert opened >= 0.99, tallies
        assert all(WRONG not in tally for tally in tallies.values()), tallies
        if kept:
            labelled = "followed and labelled", "opened, the words still stand"
            assert share(tallies["edited"], *labelled) >= 0.95, tallies
            assert share(tallies["deleted"], "said to be gone") >= 0.95, tallies
