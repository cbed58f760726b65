"""Train the judge: `python -m training.train WORK [--base NAME] [--minutes N] [--phases N]`.

The same command goes on from the last checkpoint, which is written every few minutes to WORK/run. Prints figures of
the groups held back, of the average of recent weights: that average is what training.export takes.
"""

import argparse
import random
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.optim.swa_utils import AveragedModel

from training.dev import dev_examples, print_figures, read_with_torch
from training.encoding import Encoded, encode
from training.losses import loss_of
from training.model import JudgeModel
from training.phases import PHASES, SEED, phase_examples
from training.weights import BASES, Base, base_weights, tokenizer_file

BATCH = 32
AT_ONCE = (
    4  # pairs that one thread reads: in an eighth of the space, hardly slower than a whole batch
)
THREADS = 2
RATE = 8e-5
HEAD_RATE = 6e-4
WARM_STEPS = 150
MEMORY = 0.998  # of the average of weights: about the last 500 steps
SAVE_SECONDS = 360
SHOW_EVERY = 25  # steps
CHECKED = 2  # one example held back in so many: enough to see where training is going


@dataclass(slots=True)
class Run:
    """All that training changes."""

    work: Path
    model: JudgeModel
    average: AveragedModel
    optimiser: torch.optim.Optimizer
    pool: ThreadPoolExecutor
    phase: int = 0
    step: int = 0
    stopping: bool = False
    losses: list[float] = field(default_factory=list)


def main() -> None:
    """Train through the phases, from where the last run stopped."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("--base", choices=BASES, default="e5-small")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after this time")
    parser.add_argument("--phases", type=int, default=len(PHASES), help="stop after this phase")
    given = parser.parse_args()
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    run = begin(given.work, given.base)
    signal.signal(signal.SIGTERM, lambda *_: setattr(run, "stopping", True))
    deadline = time.monotonic() + 60 * given.minutes
    held_back = encode(dev_examples(given.work)[::CHECKED], tokenizer_file())
    while run.phase < given.phases and not run.stopping:
        run_phase(run, held_back, deadline)
    if run.stopping:
        sys.exit("Stopped before the end; the same command goes on from here.")
    if run.phase == len(PHASES):
        torch.save(run.average.module.state_dict(), given.work / "run" / "judge.pt")


def begin(work: Path, base: Base) -> Run:
    """Build the model, or load it as the last checkpoint left it."""
    # Measured at 160 tokens: plain attention takes a quarter less time to train than the fused one.
    model = JudgeModel(base_weights(base, work), attention="eager")
    model.encoder.embeddings.word_embeddings.weight.requires_grad = False
    heads = [p for n, p in model.named_parameters() if not n.startswith("encoder.")]
    rest = [p for p in model.encoder.parameters() if p.requires_grad]
    rates = [{"params": rest, "base": RATE}, {"params": heads, "base": HEAD_RATE}]
    optimiser = torch.optim.AdamW(rates, lr=RATE, weight_decay=0.01, fused=True)
    pool = ThreadPoolExecutor(THREADS, initializer=torch.set_num_threads, initargs=(1,))
    run = Run(work, model, AveragedModel(model, avg_fn=remember), optimiser, pool)
    last = work / "run" / "last.pt"
    last.parent.mkdir(parents=True, exist_ok=True)
    if last.exists():
        kept = torch.load(last, weights_only=True)
        model.load_state_dict(kept["model"])
        run.average.load_state_dict(kept["average"])
        optimiser.load_state_dict(kept["optimiser"])
        run.phase, run.step = kept["phase"], kept["step"]
    return run


def remember(average: Tensor, current: Tensor, count: Tensor) -> Tensor:
    """Move the average of weights towards the current ones, faster while there are few."""
    memory = min(MEMORY, (1 + float(count)) / (10 + float(count)))
    return torch.lerp(average, current, 1 - memory)


def run_phase(run: Run, held_back: Sequence[Encoded], deadline: float) -> None:
    """Train through one phase, from where it stands, until its end or until the run is to stop."""
    phase, number = PHASES[run.phase], run.phase
    encoded = encode(phase_examples(run.work, number), tokenizer_file())
    batches = list(make_batches(encoded, SEED + number))
    print(
        f"phase {number}: {len(encoded):,} pairs, {len(batches)} steps, from {run.step}", flush=True
    )
    began, saved, first = time.monotonic(), time.monotonic(), run.step
    while run.step < len(batches) and not run.stopping:
        done = run.step / len(batches)
        warm = min(1.0, (run.step + 1) / WARM_STEPS) if number == 0 else 1.0
        take_step(run, batches[run.step], (phase.first + (phase.last - phase.first) * done) * warm)
        run.step += 1
        if run.step % SHOW_EVERY == 0:
            pace = (run.step - first) * BATCH / (time.monotonic() - began)
            loss = np.mean(run.losses[-100:])
            print(f"{number} {run.step} loss {loss:.3f}, {pace:.1f} pairs a second", flush=True)
        if time.monotonic() > deadline:
            run.stopping = True
        if time.monotonic() - saved > SAVE_SECONDS or run.stopping:
            save(run)
            saved = time.monotonic()
    if run.step == len(batches):
        run.phase, run.step = number + 1, 0
        save(run)
        check(run, held_back)


def take_step(run: Run, batch: Sequence[Encoded], rate: float) -> None:
    """Lower the loss of one batch."""
    for group in run.optimiser.param_groups:
        group["lr"] = group["base"] * rate
    run.model.train()
    parts = [batch[n : n + AT_ONCE] for n in range(0, len(batch), AT_ONCE)]
    shares = [len(part) / len(batch) for part in parts]
    run.losses.append(sum(run.pool.map(add_gradients, repeat(run.model), parts, shares)))
    torch.nn.utils.clip_grad_norm_(run.model.parameters(), 1.0)
    run.optimiser.step()
    run.optimiser.zero_grad()
    run.average.update_parameters(run.model)


def add_gradients(model: JudgeModel, part: Sequence[Encoded], share: float) -> float:
    """Read a part of a batch and add what it teaches to the gradients.

    Each thread takes whole parts of its own. Two threads within every operation would wait for each other
    hundreds of times a step, which on a busy machine took several times as long.
    """
    # Without a cache: two threads would share what it holds, and nothing is used twice in one reading.
    with torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled=False):
        loss = loss_of(model, part) * share
    loss.backward()
    return float(loss.item())


def check(run: Run, held_back: Sequence[Encoded]) -> None:
    """Print how the averaged weights read the groups held back."""
    print_figures(
        f"after phase {run.phase} step {run.step}",
        read_with_torch(run.average.module, held_back),
        run.work / "run" / "figures.jsonl",
    )


def save(run: Run) -> None:
    """Keep all that training needs to go on, whole or not at all."""
    part = run.work / "run" / "last.part"
    state = {
        "model": run.model.state_dict(),
        "average": run.average.state_dict(),
        "optimiser": run.optimiser.state_dict(),
        "phase": run.phase,
        "step": run.step,
    }
    torch.save(state, part)
    part.replace(run.work / "run" / "last.pt")


def make_batches(encoded: Sequence[Encoded], seed: int) -> Iterator[list[Encoded]]:
    """Give batches of like lengths in an order that the seed fixes."""
    chooser = random.Random(seed)
    shuffled = list(encoded)
    chooser.shuffle(shuffled)
    for start in range(0, len(shuffled), BATCH * 50):
        pool = sorted(shuffled[start : start + BATCH * 50], key=lambda one: len(one.ids))
        batches = [pool[n : n + BATCH] for n in range(0, len(pool), BATCH)]
        chooser.shuffle(batches)
        yield from batches


if __name__ == "__main__":
    main()
