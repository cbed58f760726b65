"""Questions on a wide range of topics, most of which no single book answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from random import Random
from statistics import median

from bythebook.calibrate.product_search import FoundHits

_FILE = Path(__file__).with_name("foreign.txt")


@dataclass(frozen=True, slots=True)
class ForeignQuestion:
    """A question with its topic, which the book at hand may be about."""

    text: str
    topic: str


def draw_foreign(wanted: int, seed: int) -> list[ForeignQuestion]:
    """Draw questions from each topic in turn; the same for the same seed."""
    random = Random(seed)  # noqa: S311 - a fixed draw, no secret
    topics = [random.sample(questions, len(questions)) for questions in _by_topic().values()]
    turns = chain.from_iterable(zip_longest(*topics))
    return [question for question in turns if question is not None][:wanted]


def far_from(
    own: Sequence[float], asked: Sequence[tuple[ForeignQuestion, FoundHits]]
) -> list[FoundHits]:
    """Leave out topics and questions that the book covers, by the retrieval signals of all questions.

    A topic goes as a whole when its middle question is nearer to the book's own than to the
    foreign ones: dropping only its strongest questions would make the others look more foreign
    than they are. A single question goes when it finds more than most of the book's own do.
    """
    if not own or not asked:
        return [found for _, found in asked]
    most = median(own)
    border = (most + median(found.signal for _, found in asked)) / 2
    signals: dict[str, list[float]] = {}
    for question, found in asked:
        signals.setdefault(question.topic, []).append(found.signal)
    near = {topic for topic, of_topic in signals.items() if median(of_topic) > border}
    return [
        found for question, found in asked if question.topic not in near and found.signal < most
    ]


def _by_topic() -> Mapping[str, list[ForeignQuestion]]:
    topics: dict[str, list[ForeignQuestion]] = {}
    topic = ""
    for line in _FILE.read_text("utf-8").splitlines():
        if line.startswith("# "):
            topic = line.removeprefix("# ")
        elif line.strip():
            topics.setdefault(topic, []).append(ForeignQuestion(line.strip(), topic))
    return topics
