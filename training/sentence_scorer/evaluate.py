"""Measure a written scorer: `python training/sentence_scorer/evaluate.py DATA_FOLDER MODEL [FP32_MODEL]`.

Prints, for each held-out set, the share of questions with a right sentence among the first 1, 2
and 3 by cosine, by the scorer and by both, and how well the best score tells answerable questions.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from train import MOST_TOKENS, SEED, TOKENIZER, Example, load_examples, recall, to_pair

Scores = list[NDArray[Any]]
MIXES = ((0.0, 0.0), (4.0, 0.0), (8.0, 0.0), (16.0, 0.0), (8.0, 4.0), (8.0, 8.0))  # x cosine, x chunk


def open_session(path: Path) -> onnxruntime.InferenceSession:
    """Open a model on one thread, as the product does."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(
        path, options, providers=["CPUExecutionProvider"], disabled_optimizers=["SkipLayerNormFusion"]
    )


def scorer(path: Path) -> Callable[[str, Example], float]:
    """Return a function that scores one pair by itself."""
    session, tokenizer = open_session(path), Tokenizer.from_file(str(TOKENIZER))
    tokenizer.enable_truncation(MOST_TOKENS)

    def score(question: str, candidate: Example) -> float:
        pieces = tokenizer.encode(*to_pair(question, candidate))
        ids = np.array([pieces.ids], np.int64)
        feed = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.array([pieces.type_ids], np.int64),
        }
        return float(session.run(["logit"], feed)[0][0])

    return score


def column(examples: Sequence[Example], name: str) -> Scores:
    """Return one stored figure of every candidate."""
    return [np.array([c[name] for c in e["candidates"]]) for e in examples]


def auroc(yes: Sequence[float], no: Sequence[float]) -> float:
    """Return how often a yes lies above a no."""
    if not yes or not no:
        return float("nan")
    above = np.subtract.outer(np.array(yes), np.array(no))
    return float((above > 0).mean() + 0.5 * (above == 0).mean())


def report(name: str, examples: Sequence[Example], logits: Scores) -> None:
    """Print the figures of one set."""
    asked = [i for i, e in enumerate(examples) if e["source"] not in {"look_alike", "foreign"}]
    found = [i for i in asked if any(c["label"] for c in examples[i]["candidates"])]
    total = len(asked) if name == "dev" else len(found)
    cosine, chunk = column(examples, "cosine"), column(examples, "chunk")
    ways = {"cosine": cosine}
    for near, far in MIXES:
        ways[f"logit + {near} cosine + {far} chunk"] = [
            s + near * c + far * k for s, c, k in zip(logits, cosine, chunk, strict=True)
        ]
    for way, scores in ways.items():
        kept = [examples[i] for i in found]
        shares = [recall(kept, [scores[i] for i in found], k) * len(kept) / total for k in (1, 2, 3)]
        best = [float(s.max()) for s in scores]
        lost = [i for i, e in enumerate(examples) if i not in set(asked if name == "dev" else found)]
        if name == "dev":
            lost = [i for i in lost if examples[i]["source"] == "look_alike"]
        tells = auroc([best[i] for i in (asked if name == "dev" else found)], [best[i] for i in lost])
        print(f"{name:12} {way:36} " + " ".join(f"{s:.3f}" for s in shares) + f"  AUROC {tells:.3f}")


def agreement(ours: Scores, theirs: Scores) -> float:
    """Return the mean rank correlation of two ways to score the same candidates."""
    return float(np.mean([
        np.corrcoef(np.argsort(np.argsort(a)), np.argsort(np.argsort(b)))[0, 1]
        for a, b in zip(ours, theirs, strict=True)
        if len(a) > 2
    ]))


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("exact", type=Path, nargs="?", help="the fp32 model, to compare")
    parser.add_argument("--most", type=int, default=400, help="questions per set")
    options = parser.parse_args()
    score = scorer(options.model)
    for name in ("dev", "squad_valid", "tale_valid"):
        examples = load_examples(options.data / f"{name}.jsonl")
        examples = random.Random(SEED).sample(examples, min(options.most, len(examples)))
        started = time.perf_counter()
        logits = [np.array([score(e["question"], c) for c in e["candidates"]]) for e in examples]
        spent = (time.perf_counter() - started) / sum(len(s) for s in logits)
        report(name, examples, logits)
        print(f"{name:12} {len(examples)} questions, {1000 * spent:.2f} ms per pair")
        if name == "dev" and options.exact:
            exact = scorer(options.exact)
            other = [np.array([exact(e["question"], c) for c in e["candidates"]]) for e in examples]
            print(f"{name:12} rank correlation with fp32 {agreement(logits, other):.4f}")


if __name__ == "__main__":
    main()
