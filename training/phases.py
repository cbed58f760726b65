"""What each phase of training reads: a mix of kinds, what was read least first.

A phase's examples are chosen when it begins and kept in WORK/run, so that an interrupted phase goes on with the same
ones, and files that arrive later are read from the next phase on, before anything is read twice.
"""

import hashlib
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from training.examples import Example, crop, read, read_prepared, write

SEED = 20261118
PAIRS = 8_000  # of a phase: about twenty minutes on two free cores
STEADY, FALLING = 14, 10  # phases at the full rate, then down to none
CROPPED = 0.6  # share of examples that are read in part
SHARES = {"own questions": 0.42, "public questions": 0.2, "claims": 0.16, "corrupted": 0.22}
SOURCES = {"tales": 0.4, "squad": 1.3}  # tales are many, and of one kind
KINDS = {"retrieved": 0.8, "taken away": 0.7}  # the easiest to tell
REAL_LOOK_ALIKES = 2.5  # SQuAD's are few


@dataclass(frozen=True, slots=True)
class Phase:
    """A number of pairs, and the rate at its start and end as shares of the full one."""

    pairs: int
    first: float
    last: float


PHASES = (
    *(Phase(PAIRS, 1.0, 1.0) for _ in range(STEADY)),
    *(Phase(PAIRS, 1 - n / FALLING, 1 - (n + 1) / FALLING) for n in range(FALLING)),
)


def phase_examples(work: Path, number: int) -> list[Example]:
    """Return what a phase reads, chosen now unless it was chosen before."""
    kept = work / "run" / f"phase-{number}.jsonl"
    if not kept.exists():
        available = [one for one in read_prepared(work) if one.split == "train"]
        seen = Counter(_keys_of_earlier(work, number))
        chosen = choose(available, seen, PHASES[number].pairs, SEED + number)
        chooser = random.Random(SEED + number)
        keys = work / "run" / f"phase-{number}.keys"
        keys.write_text("\n".join(key_of(one) for one in chosen))
        write(kept, (crop(e, chooser) if chooser.random() < CROPPED else e for e in chosen))
    return list(read(kept))


def choose(
    available: Iterable[Example], seen: Mapping[str, int], pairs: int, seed: int
) -> list[Example]:
    """Choose a mix of kinds: within a kind by chance, weighted, what was seen least first."""
    chooser = random.Random(seed)
    queues: dict[str, list[tuple[float, Example]]] = defaultdict(list)
    for one in available:
        place = (seen.get(key_of(one), 0) + chooser.random()) / weight_of(one)
        queues[bucket_of(one)].append((place, one))
    total = sum(SHARES[name] for name in queues)
    chosen = []
    for name, queue in sorted(queues.items()):
        queue.sort(key=lambda entry: entry[0])
        chosen += [one for _, one in queue[: round(pairs * SHARES[name] / total)]]
    return chosen


def bucket_of(example: Example) -> str:
    """Name the kind of example that a phase takes a fixed share of."""
    if example.source.startswith("corrupted"):
        return "corrupted"
    if example.task == "claim":
        return "claims"
    return "own questions" if example.source.startswith("written") else "public questions"


def weight_of(example: Example) -> float:
    """Weigh an example by how much there is to learn from its like."""
    weight = SOURCES.get(example.source, 1.0) * KINDS.get(example.kind, 1.0)
    return weight * (
        REAL_LOOK_ALIKES if (example.source, example.kind) == ("squad", "look-alike") else 1.0
    )


def key_of(example: Example) -> str:
    """Name an example by what it says, not by the file or line it stands in."""
    said = "\n".join((example.source, example.kind, example.text, example.passage))
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def _keys_of_earlier(work: Path, number: int) -> Sequence[str]:
    files = [work / "run" / f"phase-{earlier}.keys" for earlier in range(number)]
    return [key for file in files for key in file.read_text().split()]
