"""Tune the sentence encoder to readers' questions: `python -m training.tune_embedder WORK`.

Reads WORK/public.jsonl and WORK/written.jsonl (training groups only) and writes WORK/embedder, in the form that
tools/build_embedder.py reads. A question shall be nearest to the passage that answers it, among passages of the
same book.
"""

import random
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional
from transformers import AutoModel

from training.examples import Example, read
from training.weights import base_weights, tokenizer_file

SEED = 20261116
BATCH = 40
RATE = 3e-5
WARM_STEPS = 40
SHARPNESS = 20.0  # of the choice among passages, as the encoder was trained with
MOST_TOKENS = 256
# What counts is variety, and one pass over these takes under twenty minutes on two cores.
SHARE_OF = {"tales": 0.12, "squad": 0.4, "covid": 0.5}
SHARE_OF_OURS = {"question": 0.65, "claim": 0.25}


def main() -> None:
    """Train one pass."""
    if len(sys.argv) != 2:
        sys.exit("Give the folder that holds the examples: python -m training.tune_embedder WORK")
    work = Path(sys.argv[1])
    torch.manual_seed(SEED)
    torch.set_num_threads(2)
    tokenizer = Tokenizer.from_file(str(tokenizer_file()))
    tokenizer.enable_truncation(MOST_TOKENS)
    tokenizer.enable_padding(pad_id=0)
    model = AutoModel.from_pretrained(
        base_weights(),
        local_files_only=True,
        dtype=torch.float32,
        attn_implementation="sdpa",
        attention_probs_dropout_prob=0.0,
        hidden_dropout_prob=0.0,
    )
    model.embeddings.word_embeddings.weight.requires_grad = False
    optimiser = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=RATE)
    batches = list(make_batches(pairs(work)))
    print(f"{len(batches)} steps", flush=True)
    model.train()
    began, losses = time.monotonic(), []
    for step, batch in enumerate(batches):
        rate = RATE * min(1.0, (step + 1) / WARM_STEPS) * (1 - step / len(batches))
        for group in optimiser.param_groups:
            group["lr"] = rate
        with torch.autocast("cpu", dtype=torch.bfloat16):
            asked = vectors(model, tokenizer, [e.text for e in batch])
            found = vectors(model, tokenizer, [context(e) for e in batch])
        loss = loss_of(asked.float(), found.float(), batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad()
        losses.append(loss.item())
        if step % 20 == 19:
            speed = (step + 1) * BATCH / (time.monotonic() - began)
            print(
                f"{step + 1} loss {sum(losses[-60:]) / len(losses[-60:]):.3f}, {speed:.1f} a second",
                flush=True,
            )
    model.save_pretrained(work / "embedder")


def pairs(work: Path) -> list[Example]:
    """Give questions and claims with the passage that answers or supports them."""
    chooser = random.Random(1)
    return [
        example
        for name in ("public", "written")
        for example in read(work / f"{name}.jsonl")
        if example.split == "train" and example.holds and example.source not in {"claims", "wice"}
        if chooser.random() < SHARE_OF.get(example.source, SHARE_OF_OURS[example.task])
    ]


def make_batches(examples: Sequence[Example]) -> Iterator[list[Example]]:
    """Give batches from one book each, so that the other passages are near misses."""
    chooser = random.Random(SEED)
    by_book: dict[str, list[Example]] = defaultdict(list)
    for example in examples:
        by_book[f"{example.source} {example.group.split(' ')[0]}"].append(example)
    batches = []
    for book in sorted(by_book):
        chooser.shuffle(by_book[book])
        batches += [by_book[book][n : n + BATCH] for n in range(0, len(by_book[book]), BATCH)]
    chooser.shuffle(batches)
    yield from (batch for batch in batches if len(batch) > BATCH // 2)


def context(example: Example) -> str:
    """Give what the embedder reads of a passage: headings, then text."""
    return f"{example.head}\n{example.passage}" if example.head else example.passage


def vectors(model: torch.nn.Module, tokenizer: Tokenizer, texts: Sequence[str]) -> Tensor:
    """Embed texts as the bundled encoder does: the mean of all tokens, of unit length."""
    found = tokenizer.encode_batch(list(texts))
    ids = torch.tensor([one.ids for one in found])
    mask = torch.tensor([one.attention_mask for one in found])
    states = model(
        input_ids=ids, attention_mask=mask, token_type_ids=torch.zeros_like(ids)
    ).last_hidden_state
    kept = mask[..., None].to(states.dtype)
    return functional.normalize(((states * kept).sum(1) / kept.sum(1)).float(), dim=1)


def loss_of(asked: Tensor, found: Tensor, batch: Sequence[Example]) -> Tensor:
    """Have each question choose its passage, and each passage its question, among a batch's."""
    likeness = SHARPNESS * asked @ found.T
    same = torch.tensor([[a.passage == b.passage for b in batch] for a in batch])
    same.fill_diagonal_(fill_value=False)
    likeness = likeness.masked_fill(same, -1e4)  # another question of the same passage is no miss
    right = torch.arange(len(batch))
    return (
        functional.cross_entropy(likeness, right) + functional.cross_entropy(likeness.T, right)
    ) / 2


if __name__ == "__main__":
    main()
