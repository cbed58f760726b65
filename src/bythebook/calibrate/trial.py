"""Questions put to a book under a relevance map: how sure the judge is of each that it may answer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bythebook.calibrate.fit import share_from
from bythebook.calibrate.probe import CalibratePorts, Found, give_verdict, passes
from bythebook.calibrate.questions import OwnQuestion
from bythebook.calibrate.withhold import answered_elsewhere, without_answer
from bythebook.calibrate.wording import Rule
from bythebook.domain.books import Book
from bythebook.domain.calibrations import RelevanceMap

# By how well it can be told that no other passage answers; what a thing is many of them tell in part.
_TELLING: Sequence[Rule] = ("number", "cause", "terms")


@dataclass(frozen=True, slots=True)
class Effort:
    """How many questions are asked, and how many of them are read by the judge, which takes longest."""

    own: int
    foreign: int
    own_judged: int
    withheld_judged: int
    foreign_judged: int
    prior: int  # questions' worth of trust in the default threshold


@dataclass(frozen=True, slots=True)
class Exhibits:
    """The questions of a calibration with what was found for them."""

    own: Sequence[tuple[OwnQuestion, Found]]
    foreign: Sequence[Found]


@dataclass(frozen=True, slots=True)
class Shares:
    """What a setting does to the questions of a calibration."""

    own_answered: float
    withheld_refused: float
    foreign_refused: float


@dataclass(frozen=True, slots=True)
class Scores:
    """How sure the judge is, by kind of question; 0 where no threshold would let it pass."""

    own: tuple[float, ...]
    withheld: tuple[float, ...]  # the book's own, the passages that answer taken away
    foreign: tuple[float, ...]  # of those that retrieval lets through
    silent: int = 0  # foreign questions that it does not

    @property
    def unanswerable(self) -> tuple[float, ...]:
        """Those of the questions that must be refused and that the judge decides upon."""
        return self.withheld + self.foreign

    def shares(self, answer_from: float) -> Shares:
        """Say what a threshold answers and refuses."""
        wrong = sum(score > 0 and score >= answer_from for score in self.foreign)
        asked = max(1, self.silent + len(self.foreign))
        return Shares(
            share_from(self.own, answer_from),
            1.0 - share_from(self.withheld, answer_from),
            1.0 - wrong / asked,
        )


async def put_to_trial(
    exhibits: Exhibits,
    effort: Effort,
    book: Book,
    relevance: RelevanceMap,
    ports: CalibratePorts,
    on_judged: Callable[[], None],
) -> Scores:
    """Have the judge read own questions with and without their answer, and foreign ones that pass."""

    async def score(found: Found) -> float:
        verdict = await give_verdict(found.text, found.hits, book, relevance, ports)
        on_judged()
        return verdict.score

    async def score_without(question: OwnQuestion, found: Found) -> float | None:
        rest = without_answer(question, found.hits)
        verdict = await give_verdict(found.text, rest, book, relevance, ports)
        on_judged()
        elsewhere = verdict.judgement and answered_elsewhere(question, verdict.judgement)
        return None if elsewhere else verdict.score

    telling = [one for rule in _TELLING for one in exhibits.own if one[0].rule == rule]
    through = [found for found in exhibits.foreign if passes(found, relevance)]
    own = [await score(found) for _, found in exhibits.own[: effort.own_judged]]
    withheld = [await score_without(*one) for one in telling[: effort.withheld_judged]]
    foreign = [await score(found) for found in through[: effort.foreign_judged]]
    return Scores(
        tuple(own),
        tuple(value for value in withheld if value is not None),
        tuple(foreign),
        len(exhibits.foreign) - len(through),
    )
