"""The bundled models, which never read the same text twice: tests ask the same again and again."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from bythebook.adapters.models.inference import Crew
from bythebook.adapters.models.judge_model import Floats, JudgeModel, Pair, load_weights
from bythebook.adapters.models.minilm import MiniLm
from bythebook.ask.read.judge import ReadingJudge
from bythebook.bootstrap import Core


class RememberingMiniLm(MiniLm):
    """The real encoder, which encodes one text by itself and so need never do it twice."""

    def __init__(self, crew: Crew) -> None:
        super().__init__(crew=crew)
        self._known: dict[str, NDArray[np.float32]] = {}

    def _encode_one(self, text: str, *, urgent: bool = False) -> NDArray[np.float32]:
        if text not in self._known:
            self._known[text] = super()._encode_one(text, urgent=urgent)
        return self._known[text]


class RememberingJudgeModel(JudgeModel):
    """The real cross-encoder, which reads one pair by itself."""

    def __init__(self, crew: Crew) -> None:
        super().__init__(crew)
        self._known: dict[tuple[bytes, bytes], tuple[Floats, Floats]] = {}

    def _run(self, pair: Pair) -> tuple[Floats, Floats]:
        name = pair.ids.tobytes(), pair.types.tobytes()
        if name not in self._known:
            self._known[name] = super()._run(pair)
        return self._known[name]


def remember(core: Core) -> Core:
    """Give a core the models that remember, the same to all cores of this process; before it asks."""
    encoder, judge = _models()
    core.replace(encoder=encoder, judge=judge)
    return core


@cache
def _models() -> tuple[MiniLm, ReadingJudge]:
    crew = Crew()
    encoder = RememberingMiniLm(crew)
    return encoder, ReadingJudge(RememberingJudgeModel(crew), encoder, load_weights())
