"""Look at a judge in the making: `python -m training.check WORK`: its readings of the groups held back."""

import random
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bythebook.adapters.models.inference import Crew
from bythebook.adapters.models.judge_model import JudgeModel
from bythebook.ask.retrieve.passages import selection_passage
from bythebook.domain.answers import Passage
from bythebook.domain.books import Chunk, Unit
from bythebook.evaluate.figures import auroc
from bythebook.ports.answers import PairReading
from training.examples import Example, read_prepared

MOST = 600  # examples of a source


def main() -> None:
    """Print, per source, how well readings tell what holds from what does not, and find the evidence."""
    work = Path(sys.argv[1])
    model = JudgeModel(Crew(2), work / "judge" / "model.onnx")
    examples = [example for example in read_prepared(work) if example.split == "tune"]
    for source in sorted({(e.source, e.task) for e in examples}):
        here = [e for e in examples if (e.source, e.task) == source]
        here = random.Random(1).sample(here, min(MOST, len(here)))
        show(" ".join(source), here, [model.read(e.text, (as_passage(e),))[0] for e in here])


def as_passage(example: Example) -> Passage:
    """Give an example's passage as the judge reads it in the product."""
    plain = selection_passage(example.passage).chunk
    units = tuple(Unit("sentence", start, end) for start, end in example.units)
    chunk = Chunk(
        **{
            **{name: getattr(plain, name) for name in plain.__slots__},
            "units": units,
            "heading_path": tuple(example.head.split(" > ")) if example.head else (),
        }
    )
    return Passage(chunk, 1.0)


def show(name: str, examples: Sequence[Example], readings: Sequence[PairReading]) -> None:
    """Print the figures of one source."""
    both = list(zip(examples, readings, strict=True))
    line = [f"{name:32}{len(both):5}"]
    for kind in sorted({e.kind for e in examples if not e.holds}):
        others = [r for e, r in both if not e.holds and e.kind == kind]
        told = [r for e, r in both if e.holds]
        if others and told:
            values = {
                "answerable": lambda r: r.answerable,
                "units": lambda r: max(r.units),
                "span": lambda r: r.span,
                "sum": lambda r: r.answerable + max(r.units) + 0.5 * r.span,
                "support": lambda r: r.support,
            }
            wanted = (
                ("support",)
                if examples[0].task == "claim"
                else ("answerable", "units", "span", "sum")
            )
            scores = (
                f"{w} {auroc([values[w](r) for r in told], [values[w](r) for r in others]):.3f}"
                for w in wanted
            )
            line.append(f"{kind or 'other'} {len(others)}: " + " ".join(scores))
    first = [int(np.argmax(r.units)) in e.evidence for e, r in both if e.holds and e.evidence]
    line.append(f"evidence first {np.mean(first):.3f}" if first else "")
    print("  ".join(line), flush=True)


if __name__ == "__main__":
    main()
