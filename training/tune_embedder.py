"""Tune a sentence encoder to readers' questions: `python -m training.tune_embedder WORK [--base NAME]`.

Reads WORK/examples (training groups only) and writes WORK/embedder-NAME as tools/build_embedder.py reads it.
A question shall be nearest to the passage that answers it, among passages of the same book and among those that our
retriever found in vain. The same command goes on from the last checkpoint.
"""

import argparse
import json
import random
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional
from transformers import AutoModel

from training.examples import Example, read, read_prepared, write
from training.weights import BASES, PREFIXES, Base, Prefixes, base_weights, tokenizer_file

SEED = 20261116
BATCH = 40
AT_ONCE = 8  # texts that one thread embeds
THREADS = 2
RATES: dict[Base, float] = {"minilm": 3e-5, "e5-small": 3e-5}
WARM_STEPS = 40
SHARPNESS = 20.0  # of the choice among passages; it gives cosines the spread that retrieval expects
MOST_TOKENS = 256
SAVE_SECONDS = 360
# What counts is variety, and one pass over these takes under an hour on two cores.
SHARE_OF = {"tales": 0.12, "squad": 0.4, "covid": 0.5}
SHARE_OF_OURS = {"question": 0.65, "claim": 0.25}
MADE_BY_RULE = ("claims", "wice", "corrupted")  # they repeat the passage, or too little of it
SHARE_OF_MINED = 0.5  # questions that are asked against a passage found in vain as well


@dataclass(frozen=True, slots=True)
class Lesson:
    """A question or claim, the passage that answers it, and perhaps one that does not."""

    example: Example
    mined: Example | None


class Encoder:
    """An encoder in training, for use by several threads at once."""

    def __init__(self, weights: Path, prefixes: Prefixes) -> None:
        self.tokenizer = Tokenizer.from_file(str(tokenizer_file()))
        self.tokenizer.enable_truncation(MOST_TOKENS)
        self.tokenizer.enable_padding(pad_id=0)
        self.prefixes = prefixes
        self.model = AutoModel.from_pretrained(
            weights,
            local_files_only=True,
            dtype=torch.float32,
            attn_implementation="eager",
            attention_probs_dropout_prob=0.0,
            hidden_dropout_prob=0.0,
            add_pooling_layer=False,
        )
        self.model.embeddings.word_embeddings.weight.requires_grad = False

    def embed(self, texts: Sequence[str]) -> Tensor:
        """Embed a few texts as the bundled encoder does: the mean of all tokens, of unit length."""
        found = self.tokenizer.encode_batch(list(texts))
        ids = torch.tensor([one.ids for one in found])
        mask = torch.tensor([one.attention_mask for one in found])
        with torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled=False):
            states = self.model(
                input_ids=ids, attention_mask=mask, token_type_ids=torch.zeros_like(ids)
            ).last_hidden_state
        kept = mask[..., None].float()
        return functional.normalize((states.float() * kept).sum(1) / kept.sum(1), dim=1)

    def embed_without_gradient(self, texts: Sequence[str]) -> Tensor:
        """Embed a few texts, and forget how."""
        with torch.no_grad():
            return self.embed(texts)

    def add_gradients(self, texts: Sequence[str], wanted: Tensor) -> None:
        """Embed a few texts once more, and pass back how their vectors should move."""
        self.embed(texts).backward(wanted)


def main() -> None:
    """Train one pass, from where the last run stopped."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("--base", choices=BASES, default="e5-small")
    given = parser.parse_args()
    work, base = given.work, given.base
    target = work / f"embedder-{base}"
    if (target / "model.safetensors").exists():
        print(f"{target} is there.")
        return
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    encoder = Encoder(base_weights(base, work), PREFIXES[base])
    batches = list(make_batches(choose_lessons(work)))
    tune(encoder, batches, RATES[base], work / "run" / f"embedder-{base}.pt")
    encoder.model.save_pretrained(target)
    (target / "prefixes.json").write_text(json.dumps(PREFIXES[base]._asdict()))


def tune(encoder: Encoder, batches: Sequence[Sequence[Lesson]], rate: float, last: Path) -> None:
    """Train through all batches, with a checkpoint every few minutes."""
    rest = [p for p in encoder.model.parameters() if p.requires_grad]
    optimiser = torch.optim.AdamW(rest, lr=rate, fused=True)
    first = 0
    if last.exists():
        kept = torch.load(last, weights_only=True)
        encoder.model.load_state_dict(kept["model"])
        optimiser.load_state_dict(kept["optimiser"])
        first = kept["step"]
    print(f"{len(batches)} steps, from {first}", flush=True)
    encoder.model.train()
    pool = ThreadPoolExecutor(THREADS, initializer=torch.set_num_threads, initargs=(1,))
    began, saved, losses = time.monotonic(), time.monotonic(), []
    for step in range(first, len(batches)):
        for group in optimiser.param_groups:
            group["lr"] = rate * min(1.0, (step + 1) / WARM_STEPS) * (1 - step / len(batches))
        losses.append(take_step(encoder, optimiser, pool, batches[step]))
        if step % 20 == 19:
            pace = (step + 1 - first) * BATCH / (time.monotonic() - began)
            mean = sum(losses[-60:]) / len(losses[-60:])
            print(f"{step + 1} loss {mean:.3f}, {pace:.1f} questions a second", flush=True)
        if time.monotonic() - saved > SAVE_SECONDS:
            save(encoder, optimiser, step + 1, last)
            saved = time.monotonic()


def take_step(
    encoder: Encoder,
    optimiser: torch.optim.Optimizer,
    pool: ThreadPoolExecutor,
    batch: Sequence[Lesson],
) -> float:
    """Lower the loss of one batch.

    All vectors of a batch are compared with each other, but their graphs would fill the memory. So texts are embedded
    twice, a few at a time: first to compare them, then to pass back what the comparison asks of each.
    """
    examples = [one.example for one in batch]
    mined = [one.mined for one in batch if one.mined is not None]
    texts = [encoder.prefixes.query + one.text for one in examples]
    texts += [encoder.prefixes.passage + context(one) for one in (*examples, *mined)]
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    parts = [order[n : n + AT_ONCE] for n in range(0, len(order), AT_ONCE)]
    few = [[texts[place] for place in part] for part in parts]
    vectors = torch.empty(len(texts), encoder.model.config.hidden_size)
    for part, found in zip(parts, pool.map(encoder.embed_without_gradient, few), strict=True):
        vectors[part] = found
    vectors.requires_grad_()
    loss = loss_of(vectors[: len(examples)], vectors[len(examples) :], examples, mined)
    (wanted,) = torch.autograd.grad(loss, vectors)
    list(pool.map(encoder.add_gradients, few, [wanted[part] for part in parts]))
    torch.nn.utils.clip_grad_norm_(encoder.model.parameters(), 1.0)
    optimiser.step()
    optimiser.zero_grad()
    return float(loss.item())


def save(encoder: Encoder, optimiser: torch.optim.Optimizer, step: int, last: Path) -> None:
    """Keep all that tuning needs to go on, whole or not at all."""
    part = last.with_suffix(".part")
    state = {"model": encoder.model.state_dict(), "optimiser": optimiser.state_dict(), "step": step}
    torch.save(state, part)
    part.replace(last)


def choose_lessons(work: Path) -> list[Lesson]:
    """Return what a run reads, chosen now unless it was chosen before."""
    kept = work / "run" / "embedder.jsonl"
    if not kept.exists():
        write(kept, choose(list(read_prepared(work))))
    examples = list(read(kept))
    vain = {one.text: one for one in examples if not one.holds}
    return [Lesson(one, vain.get(one.text)) for one in examples if one.holds]


def choose(examples: Sequence[Example]) -> Iterator[Example]:
    """Choose what questions and claims to learn from, and for some a passage found in vain."""
    chooser = random.Random(SEED)
    learnt = [one for one in examples if one.split == "train"]
    vain = {one.text: one for one in learnt if one.kind == "retrieved"}
    for one in learnt:
        share = SHARE_OF.get(one.source, SHARE_OF_OURS[one.task])
        if one.holds and not one.source.startswith(MADE_BY_RULE) and chooser.random() < share:
            yield one
            if one.text in vain and chooser.random() < SHARE_OF_MINED:
                yield vain[one.text]


def make_batches(wanted: Sequence[Lesson]) -> Iterator[list[Lesson]]:
    """Give batches from one book each, so that the other passages are near misses."""
    chooser = random.Random(SEED)
    by_book: dict[str, list[Lesson]] = defaultdict(list)
    for one in wanted:
        by_book[f"{one.example.source} {one.example.group.split(' ')[0]}"].append(one)
    batches = []
    for book in sorted(by_book):
        chooser.shuffle(by_book[book])
        batches += [by_book[book][n : n + BATCH] for n in range(0, len(by_book[book]), BATCH)]
    chooser.shuffle(batches)
    yield from (batch for batch in batches if len(batch) > BATCH // 2)


def context(example: Example) -> str:
    """Return what the embedder reads of a passage: headings, then text."""
    return f"{example.head}\n{example.passage}" if example.head else example.passage


def loss_of(
    asked: Tensor, found: Tensor, examples: Sequence[Example], mined: Sequence[Example]
) -> Tensor:
    """Lower where each question chooses its passage among all, and each passage its question."""
    likeness = SHARPNESS * asked @ found.T
    passages = [one.passage for one in (*examples, *mined)]
    same = torch.tensor([[one.passage == other for other in passages] for one in examples])
    own = torch.eye(*same.shape, dtype=torch.bool)
    # Another question of the same passage is no miss, nor is its passage where it was mined.
    likeness = likeness.masked_fill(same & ~own, -1e4)
    right = torch.arange(len(examples))
    across = likeness[:, : len(examples)].T
    return (functional.cross_entropy(likeness, right) + functional.cross_entropy(across, right)) / 2


if __name__ == "__main__":
    main()
