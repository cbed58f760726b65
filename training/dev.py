"""Figures of the groups that training held back, cheap enough to print while it goes on.

`python -m training.dev WORK MODEL.onnx...` prints those of finished models over the same pairs.
"""

import json
import random
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bythebook.adapters.models.inference import open_session
from bythebook.adapters.models.judge_model import NO_UNIT
from bythebook.evaluate.figures import auroc
from training.encoding import Encoded, encode
from training.examples import Example, read, read_prepared, write
from training.weights import tokenizer_file

if TYPE_CHECKING:
    from training.model import JudgeModel

SEED = 20261118
MOST = 80  # examples of one set, task, label and kind
LEAST = 15  # on each side of a figure
EVIDENCE = 2  # among the token values
Values = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Read:
    """What a judge makes of one example."""

    example: Example
    answerable: float
    support: float
    best_unit: int
    standing: float  # of that unit, over "none"

    @property
    def score(self) -> float:
        """Return what tells pairs that hold from those that do not."""
        if self.example.task == "claim":
            return self.support
        return self.answerable + self.standing


def main() -> None:
    """Print the figures of models that are exported."""
    if len(sys.argv) < 3:
        sys.exit("Give the work folder and models: python -m training.dev WORK MODEL.onnx...")
    held_back = encode(dev_examples(Path(sys.argv[1])), tokenizer_file())
    for model in sys.argv[2:]:
        print_figures(model, list(read_with_onnx(Path(model), held_back)))


def dev_examples(work: Path) -> list[Example]:
    """Return examples held back, chosen once for all figures of a run."""
    kept = work / "run" / "dev.jsonl"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        write(kept, choose(read_prepared(work)))
    return list(read(kept))


def choose(examples: Iterable[Example]) -> Iterator[Example]:
    """Choose as many examples held back of each set, task, label and kind."""
    groups: dict[tuple[str, ...], list[Example]] = defaultdict(list)
    for one in examples:
        if one.split == "tune":
            groups[set_of(one), one.task, str(one.holds), one.kind].append(one)
    chooser = random.Random(SEED)
    for _, here in sorted(groups.items()):
        yield from chooser.sample(here, min(MOST, len(here)))


def set_of(example: Example) -> str:
    """Name the set that an example counts for: all books of ours are one, and so is all that was corrupted."""
    if example.source.startswith("corrupted"):
        return "corrupted"
    if example.source.startswith("written") and example.source != "written squad":
        return "books"
    return example.source


def read_with_torch(model: "JudgeModel", held_back: Sequence[Encoded]) -> list[Read]:
    """Read examples with a model in training."""
    import torch

    from training.losses import pad

    model.eval()
    readings = []
    ordered = sorted(held_back, key=lambda one: len(one.ids))
    for start in range(0, len(ordered), 16):
        batch = ordered[start : start + 16]
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
            tokens, pairs = model(*pad(batch)[:3])
        for one, token, pair in zip(batch, tokens.float(), pairs.float(), strict=True):
            readings.append(reading(one, token.numpy(), pair.numpy()))
    return readings


def read_with_onnx(model: Path, held_back: Sequence[Encoded]) -> Iterator[Read]:
    """Read examples with an exported model."""
    session = open_session(model)
    for one in held_back:
        ids, types = one.ids[None, :], one.types[None, :]
        feed = {"input_ids": ids, "token_type_ids": types, "attention_mask": np.ones_like(ids)}
        tokens, pairs = session.run(["tokens", "pair"], feed)
        yield reading(one, tokens[0], pairs[0])


def reading(one: Encoded, tokens: Values, pair: Values) -> Read:
    """Reduce a model's values to what figures are made of."""
    values = tokens[: len(one.ids), EVIDENCE]
    units = sorted({int(unit) for unit in one.units if unit != NO_UNIT})
    means = [float(values[one.units == unit].mean()) for unit in units]
    best = int(np.argmax(means))
    return Read(
        one.example, float(pair[0]), float(pair[1]), units[best], means[best] - float(values[0])
    )


def figures(readings: Sequence[Read]) -> dict[str, float]:
    """Compute the AUROC of what holds against each kind that does not, and how often evidence is first."""
    found: dict[str, float] = {}
    sets = sorted({(set_of(one.example), one.example.task) for one in readings})
    for name, task in sets:
        here = [r for r in readings if (set_of(r.example), r.example.task) == (name, task)]
        good = [r.score for r in here if r.example.holds]
        for kind in sorted({r.example.kind for r in here if not r.example.holds}):
            bad = [r.score for r in here if not r.example.holds and r.example.kind == kind]
            if min(len(good), len(bad)) >= LEAST:
                found[f"{name} {task} {kind or 'other'}"] = round(auroc(good, bad), 3)
        first = [
            r.best_unit in r.example.evidence
            for r in here
            if r.example.holds and r.example.evidence
        ]
        if task == "question" and len(first) >= LEAST:
            found[f"{name} evidence first"] = round(float(np.mean(first)), 3)
    return found


def print_figures(title: str, readings: Sequence[Read], log: Path | None = None) -> None:
    """Print figures in one block, and add them to a log."""
    found = figures(readings)
    print(f"{title}: {len(readings)} pairs held back, mean {np.mean(list(found.values())):.3f}")
    for name, value in found.items():
        print(f"   {name:44}{value:.3f}")
    sys.stdout.flush()
    if log is not None:
        with log.open("a") as file:
            file.write(json.dumps({"title": title, **found}) + "\n")


if __name__ == "__main__":
    main()
