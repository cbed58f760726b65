"""Train the judge: `python -m training.train WORK [MINUTES]`.

Reads WORK/public.jsonl and, once it is there, WORK/written.jsonl; keeps a checkpoint in WORK/run every few
minutes and goes on from the last one. Needs requirements/build-models.txt and a CPU build of torch.
"""

import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from bythebook.adapters.judge_model import NO_UNIT
from training.encoding import Encoded, encode
from training.examples import Example, cropped, read
from training.model import JudgeModel
from training.weights import base_weights, tokenizer_file

SEED = 20261116
BATCH = 32
RATE = 1e-4
HEAD_RATE = 1e-3
WARM_STEPS = 150
SAVE_EVERY = 150  # steps
FAR = -1e4
SOURCES = {"tales": 0.4, "squad": 1.3}  # tales are many, and of one kind
KINDS = {"retrieved": 0.7, "taken away": 0.7}  # the easiest to tell
REAL_LOOK_ALIKES = 2.5  # SQuAD's are few
CROPPED = 0.5  # share of examples that are read in part


@dataclass(frozen=True, slots=True)
class Phase:
    """One pass over parts of files, with the rate at its start and end as shares of the full one."""

    files: tuple[tuple[str, float], ...]  # a part above 1 is read more than once
    first: float
    last: float


PHASES = (
    Phase((("public", 0.8),), 1.0, 1.0),
    Phase((("public", 0.4), ("written", 1.5)), 1.0, 0.0),
    Phase((("public", 1.1), ("written", 0.85)), 0.8, 0.0),  # once more, from a middle rate
)


def main() -> None:
    """Train through the phases, from where the last run stopped."""
    work = Path(sys.argv[1])
    deadline = time.monotonic() + 60 * float(sys.argv[2]) if len(sys.argv) > 2 else float("inf")
    torch.manual_seed(SEED)
    torch.set_num_threads(2)
    model = JudgeModel(base_weights())
    model.encoder.embeddings.word_embeddings.weight.requires_grad = False
    rates = [
        {"params": [p for p in model.encoder.parameters() if p.requires_grad], "base": RATE},
        {
            "params": [p for n, p in model.named_parameters() if not n.startswith("encoder.")],
            "base": HEAD_RATE,
        },
    ]
    optimiser = torch.optim.AdamW(rates, lr=RATE, weight_decay=0.01)
    at = Place(0, 0)
    last = work / "run" / "last.pt"
    if last.exists():
        kept = torch.load(last, weights_only=False)
        model.load_state_dict(kept["model"])
        optimiser.load_state_dict(kept["optimiser"])
        at = Place(*kept["at"])
    for number in range(at.phase, len(PHASES)):
        begin = at.step if number == at.phase else 0
        if not run_phase(number, begin, model, optimiser, work, deadline):
            return
    torch.save(model.state_dict(), work / "run" / "judge.pt")


@dataclass(frozen=True, slots=True)
class Place:
    """Where training stands."""

    phase: int
    step: int


def run_phase(
    number: int,
    begin: int,
    model: JudgeModel,
    optimiser: torch.optim.Optimizer,
    work: Path,
    deadline: float,
) -> bool:
    """Train through one phase from a step on; say whether it came to its end."""
    phase = PHASES[number]
    examples = [
        e for name, part in phase.files for e in part_of(work / f"{name}.jsonl", part, number)
    ]
    batches = list(make_batches(encode(examples, tokenizer_file()), SEED + number))
    print(
        f"phase {number}: {len(examples):,} examples, {len(batches):,} steps, from {begin}",
        flush=True,
    )
    model.train()
    began, recent = time.monotonic(), []
    for step in range(begin, len(batches)):
        share = phase.first + (phase.last - phase.first) * step / len(batches)
        warm = min(1.0, (step + 1) / WARM_STEPS) if number == 0 else 1.0
        for group in optimiser.param_groups:
            group["lr"] = group["base"] * share * warm
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = loss_of(model, batches[step])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad()
        recent.append(loss.item())
        if step % 25 == 24:
            speed = (step + 1 - begin) * BATCH / (time.monotonic() - began)
            print(
                f"{number} {step + 1} loss {np.mean(recent[-100:]):.3f}, {speed:.1f} a second",
                flush=True,
            )
        if step % SAVE_EVERY == SAVE_EVERY - 1 or time.monotonic() > deadline:
            save(model, optimiser, work, Place(number, step + 1))
            if time.monotonic() > deadline:
                return False
    save(model, optimiser, work, Place(number + 1, 0))
    return True


def save(model: JudgeModel, optimiser: torch.optim.Optimizer, work: Path, at: Place) -> None:
    """Keep all that training needs to go on, whole or not at all."""
    (work / "run").mkdir(exist_ok=True)
    part = work / "run" / "last.part"
    state = {
        "model": model.state_dict(),
        "optimiser": optimiser.state_dict(),
        "at": (at.phase, at.step),
    }
    torch.save(state, part)
    part.replace(work / "run" / "last.pt")


def part_of(path: Path, part: float, phase: int) -> Iterator[Example]:
    """Give a part of a file's training examples, by chance but the same each time."""
    chooser = random.Random(SEED + phase)
    for example in read(path):
        if example.split == "train":
            share = SOURCES.get(example.source, 1.0) * KINDS.get(example.kind, 1.0)
            if (example.source, example.kind) == ("squad", "look-alike"):
                share *= REAL_LOOK_ALIKES
            for _ in range(int(part * share + chooser.random())):
                yield cropped(example, chooser) if chooser.random() < CROPPED else example


def make_batches(encoded: Sequence[Encoded], seed: int) -> Iterator[list[Encoded]]:
    """Give batches of like lengths in an order that the seed fixes."""
    chooser = random.Random(seed)
    shuffled = list(encoded)
    chooser.shuffle(shuffled)
    for begin in range(0, len(shuffled), BATCH * 50):
        pool = sorted(shuffled[begin : begin + BATCH * 50], key=lambda one: len(one.ids))
        batches = [pool[n : n + BATCH] for n in range(0, len(pool), BATCH)]
        chooser.shuffle(batches)
        yield from batches


def tensors(batch: Sequence[Encoded]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Pad a batch: ids, types, mask, units."""
    length = max(len(one.ids) for one in batch)
    ids = torch.zeros(len(batch), length, dtype=torch.long)
    types, mask = torch.zeros_like(ids), torch.zeros_like(ids)
    units = torch.full_like(ids, NO_UNIT)
    for row, one in enumerate(batch):
        size = len(one.ids)
        ids[row, :size] = torch.from_numpy(one.ids)
        types[row, :size] = torch.from_numpy(one.types)
        units[row, :size] = torch.from_numpy(one.units)
        mask[row, :size] = 1
    return ids, types, mask, units


def loss_of(model: JudgeModel, batch: Sequence[Encoded]) -> Tensor:
    """Add the losses of all heads, each over the examples that say something of it."""
    ids, types, mask, units = tensors(batch)
    token_values, pair_values = model(ids, types, mask)
    token_values, pair_values = token_values.float(), pair_values.float()
    holds = torch.tensor([float(one.example.holds) for one in batch])
    claims = torch.tensor([one.example.task == "claim" for one in batch])
    chosen = torch.where(claims, pair_values[:, 1], pair_values[:, 0])
    loss = functional.binary_cross_entropy_with_logits(chosen, holds)
    unit_values = unit_scores(token_values[:, :, 2], units)
    loss = loss + evidence_loss(unit_values, batch)
    return loss + span_loss(token_values, units, batch)


def unit_scores(values: Tensor, units: Tensor) -> Tensor:
    """Average a value over the tokens of each unit; column 0 is the first token: no unit at all."""
    count = int(units.max()) + 1
    member = functional.one_hot(units.clamp(min=0), count).float() * (units != NO_UNIT)[..., None]
    sizes = member.sum(1)
    means = (member * values[..., None]).sum(1) / sizes.clamp(min=1)
    means = means.masked_fill(sizes == 0, FAR)
    return torch.cat([values[:, :1], means], 1)


def evidence_loss(unit_values: Tensor, batch: Sequence[Encoded]) -> Tensor:
    """Have the units that answer stand out among all, or none of them where none does."""
    rows, targets = [], torch.zeros_like(unit_values)
    for row, one in enumerate(batch):
        if one.example.holds and one.evidence:
            for unit in one.evidence:
                targets[row, unit + 1] = 1 / len(one.evidence)
            rows.append(row)
        elif not one.example.holds and one.example.task == "question":
            targets[row, 0] = 1.0
            rows.append(row)
    if not rows:
        return unit_values.sum() * 0
    log_shares = functional.log_softmax(unit_values[rows], 1)
    return -(targets[rows] * log_shares).sum(1).mean()


def span_loss(token_values: Tensor, units: Tensor, batch: Sequence[Encoded]) -> Tensor:
    """Have the answer's first and last token stand out, or the first token of all where none answers."""
    allowed = units != NO_UNIT
    allowed[:, 0] = True
    rows, first, last = [], [], []
    for row, one in enumerate(batch):
        if one.span is not None or (not one.example.holds and one.example.task == "question"):
            rows.append(row)
            start, end = one.span or (0, 0)
            first.append(start)
            last.append(end)
    if not rows:
        return token_values.sum() * 0
    values = token_values[rows].masked_fill(~allowed[rows][..., None], FAR)
    loss = functional.cross_entropy(values[..., 0], torch.tensor(first))
    return (loss + functional.cross_entropy(values[..., 1], torch.tensor(last))) / 2


if __name__ == "__main__":
    main()
