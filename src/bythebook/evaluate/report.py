"""Results of questions -> a table of figures."""

from collections.abc import Mapping, Sequence

from bythebook.evaluate.figures import auroc, percentile, share
from bythebook.evaluate.run import QuestionResult

Figures = Mapping[str, float]


def summarise(results: Sequence[QuestionResult]) -> Figures:
    """Summarise a question set; a kind that the set does not contain has no row."""
    answered = [one for one in results if one.question.kind == "answered"]
    look_alike = [one for one in results if one.question.kind == "look_alike"]
    foreign = [one for one in results if one.question.kind == "foreign"]
    shown = [one for one in results if one.answered]
    quotes = sum(one.quotes for one in shown)
    figures = {
        "questions": float(len(results)),
        "answered: gold quote in the answer": share([one.gold_in_answer for one in answered]),
        "answered: not refused": share([one.answered for one in answered]),
        "answered: gold in a retrieved passage": share([one.gold_retrieved for one in answered]),
        "answered: gold in a key sentence": share([one.gold_in_key for one in answered]),
        "answered: gold is the judge's first choice": share([one.gold_first for one in answered]),
        "answered, reworded: gold quote in the answer": share(
            [one.gold_in_answer for one in answered if one.question.reworded]
        ),
        "foreign: refused": share([not one.answered for one in foreign]),
        "look-alikes: refused": share([not one.answered for one in look_alike]),
        "foreign: AUROC of relevance": auroc(_relevances(answered), _relevances(foreign)),
        "foreign: AUROC of best cosine": auroc(_cosines(answered), _cosines(foreign)),
        "look-alikes: AUROC of the judge": auroc(_chances(answered), _chances(look_alike)),
        "look-alikes: AUROC of best cosine": auroc(_cosines(answered), _cosines(look_alike)),
        "quotes exact": sum(one.exact_quotes for one in shown) / quotes if quotes else float("nan"),
        "words in an answer, median": percentile([one.words for one in shown], 50),
        "milliseconds when answered, median": percentile([one.milliseconds for one in shown], 50),
        "milliseconds when answered, 99th": percentile([one.milliseconds for one in shown], 99),
        "milliseconds when refused, median": percentile(
            [one.milliseconds for one in results if not one.answered], 50
        ),
    }
    return {name: value for name, value in figures.items() if value == value}  # drops NaN


def _relevances(results: Sequence[QuestionResult]) -> list[float]:
    return [one.relevance for one in results]


def _cosines(results: Sequence[QuestionResult]) -> list[float]:
    return [one.cosine for one in results]


def _chances(results: Sequence[QuestionResult]) -> list[float]:
    return [one.answerable for one in results]
