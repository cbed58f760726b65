"""Questions -> how sure the judge is of each, under a relevance map."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bythebook.ask.read.verdict import Verdict
from bythebook.calibrate.fit import share_from
from bythebook.calibrate.product_search import (
    CalibratePorts,
    FoundHits,
    decide_with_open_threshold,
    reaches_judge,
    score_of,
)
from bythebook.calibrate.questions import OwnQuestion
from bythebook.calibrate.withhold import is_answered_elsewhere, without_answer
from bythebook.calibrate.wording import Rule
from bythebook.domain.answers import Hit
from bythebook.domain.books import Book
from bythebook.domain.calibrations import RelevanceMap

# Rules in order of how surely no other passage answers; many passages define a term in part.
_TELLING: Sequence[Rule] = ("number", "cause", "terms")


@dataclass(frozen=True, slots=True)
class Effort:
    """How many questions are asked, and how many the judge reads, which is the slowest step."""

    own: int
    foreign: int
    own_judged: int
    withheld_judged: int
    foreign_judged: int
    prior: int  # weight of the default threshold, in questions


@dataclass(frozen=True, slots=True)
class Samples:
    """The questions of a calibration with their hits."""

    own: Sequence[tuple[OwnQuestion, FoundHits]]
    foreign: Sequence[FoundHits]


@dataclass(frozen=True, slots=True)
class Shares:
    """The effect of a setting on the questions of a calibration."""

    own_answered: float
    withheld_refused: float
    foreign_refused: float


@dataclass(frozen=True, slots=True)
class JudgeScores:
    """How sure the judge is, by kind of question; 0 if no threshold would let it pass."""

    own: tuple[float, ...]
    withheld: tuple[float, ...]  # the book's own, without the passages that answer
    foreign: tuple[float, ...]  # of those that retrieval lets through
    silent: int = 0  # foreign questions that it does not

    @property
    def unanswerable(self) -> tuple[float, ...]:
        """The scores of questions that must be refused and that reach the judge."""
        return self.withheld + self.foreign

    def shares(self, answer_from: float) -> Shares:
        """Return the shares that a threshold answers and refuses."""
        wrong = sum(score > 0 and score >= answer_from for score in self.foreign)
        asked = max(1, self.silent + len(self.foreign))
        return Shares(
            share_from(self.own, answer_from),
            1.0 - share_from(self.withheld, answer_from),
            1.0 - wrong / asked,
        )


async def score_questions(
    samples: Samples,
    effort: Effort,
    book: Book,
    relevance: RelevanceMap,
    ports: CalibratePorts,
    on_judged: Callable[[], None],
) -> JudgeScores:
    """Score own questions with and without their answer, and foreign ones that reach the judge."""

    async def verdict_on(text: str, hits: Sequence[Hit]) -> Verdict:
        verdict = await decide_with_open_threshold(text, hits, book, relevance, ports)
        on_judged()
        return verdict

    async def score(found: FoundHits) -> float:
        return score_of(await verdict_on(found.text, found.hits))

    async def score_without(question: OwnQuestion, found: FoundHits) -> float | None:
        verdict = await verdict_on(found.text, without_answer(question, found.hits))
        elsewhere = verdict.answers and is_answered_elsewhere(question, verdict.judgement)
        return None if elsewhere else score_of(verdict)

    telling = [one for rule in _TELLING for one in samples.own if one[0].rule == rule]
    through = [one for one in samples.foreign if reaches_judge(one, book, relevance, ports)]
    own = [await score(found) for _, found in samples.own[: effort.own_judged]]
    withheld = [await score_without(*one) for one in telling[: effort.withheld_judged]]
    foreign = [await score(found) for found in through[: effort.foreign_judged]]
    return JudgeScores(
        tuple(own),
        tuple(value for value in withheld if value is not None),
        tuple(foreign),
        len(samples.foreign) - len(through),
    )
