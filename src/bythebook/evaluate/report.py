"""Asked questions -> a table of figures."""

from collections.abc import Mapping, Sequence

from bythebook.evaluate.figures import auroc, percentile, share
from bythebook.evaluate.run import Asked

Figures = Mapping[str, float]


def summarise(asked: Sequence[Asked]) -> Figures:
    """Sum up a question set; a kind that the set does not hold has no row."""
    answered = [one for one in asked if one.question.kind == "answered"]
    look_alike = [one for one in asked if one.question.kind == "look_alike"]
    foreign = [one for one in asked if one.question.kind == "foreign"]
    shown = [one for one in asked if one.answered]
    quotes = sum(one.quotes for one in shown)
    figures = {
        "questions": float(len(asked)),
        "answered: gold quote in the answer": share([one.gold_in_answer for one in answered]),
        "answered: not refused": share([one.answered for one in answered]),
        "answered: gold in a retrieved passage": share([one.gold_retrieved for one in answered]),
        "answered: gold is the judge's first choice": share([one.gold_first for one in answered]),
        "answered, reworded: gold quote in the answer": share(
            [one.gold_in_answer for one in answered if one.question.reworded]
        ),
        "foreign: refused": share([not one.answered for one in foreign]),
        "look-alikes: refused": share([not one.answered for one in look_alike]),
        "foreign: AUROC of relevance": auroc(_relevance(answered), _relevance(foreign)),
        "foreign: AUROC of best cosine": auroc(_cosine(answered), _cosine(foreign)),
        "look-alikes: AUROC of the judge": auroc(_answerable(answered), _answerable(look_alike)),
        "look-alikes: AUROC of best cosine": auroc(_cosine(answered), _cosine(look_alike)),
        "quotes exact": sum(one.exact_quotes for one in shown) / quotes if quotes else float("nan"),
        "words in an answer, median": percentile([one.words for one in shown], 50),
        "milliseconds when answered, median": percentile([one.milliseconds for one in shown], 50),
        "milliseconds when answered, 99th": percentile([one.milliseconds for one in shown], 99),
        "milliseconds when refused, median": percentile(
            [one.milliseconds for one in asked if not one.answered], 50
        ),
    }
    return {name: value for name, value in figures.items() if value == value}  # leaves out NaN


def _relevance(asked: Sequence[Asked]) -> list[float]:
    return [one.relevance for one in asked]


def _cosine(asked: Sequence[Asked]) -> list[float]:
    return [one.cosine for one in asked]


def _answerable(asked: Sequence[Asked]) -> list[float]:
    return [one.answerable for one in asked]
