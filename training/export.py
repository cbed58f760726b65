"""Make the judge small: `python -m training.export WORK [--base NAME] [--checkpoint]`.

Writes WORK/judge/model.onnx, int8, from WORK/run/judge.pt, or from the last checkpoint of a training that is
still going on; checks that it reads as the weights do that it comes from.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from tools.build_embedder import optimise, quantise

from training.dev import dev_examples, read_with_onnx, read_with_torch
from training.encoding import Encoded, encode
from training.model import JudgeModel
from training.weights import BASES, base_weights, tokenizer_file

COMPARED = 8  # one example held back in so many
LEAST_CORRELATION = 0.99


def main() -> None:
    """Export, fuse, quantise and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("--base", choices=BASES, default="e5-small")
    parser.add_argument("--checkpoint", action="store_true")
    given = parser.parse_args()
    work: Path = given.work
    model = JudgeModel(base_weights(given.base, work), attention="eager")
    model.load_state_dict(load_weights(work / "run", checkpoint=given.checkpoint))
    model.eval()
    (work / "judge").mkdir(exist_ok=True)
    target = work / "judge" / "model.onnx"
    with tempfile.TemporaryDirectory() as scratch:
        plain, fused = Path(scratch) / "plain.onnx", Path(scratch) / "fused.onnx"
        export(model, plain)
        optimise(plain, fused)
        quantise(fused, target, model.encoder.config.num_hidden_layers)
    print(f"{target.stat().st_size / 1e6:.1f} MB")
    compare(model, target, encode(dev_examples(work)[::COMPARED], tokenizer_file()))


def load_weights(run: Path, *, checkpoint: bool) -> dict[str, torch.Tensor]:
    """Return finished weights, or the average of recent ones that the last checkpoint holds."""
    if not checkpoint:
        finished: dict[str, torch.Tensor] = torch.load(run / "judge.pt", weights_only=True)
        return finished
    averaged = torch.load(run / "last.pt", weights_only=True)["average"]
    return {
        name.removeprefix("module."): value
        for name, value in averaged.items()
        if name.startswith("module.")
    }


def compare(model: JudgeModel, exported: Path, held_back: Sequence[Encoded]) -> None:
    """Stop if rounding to 8 bits changed the order in which pairs are judged."""
    before = {id(one.example): one.score for one in read_with_torch(model, held_back)}
    after = {id(one.example): one.score for one in read_with_onnx(exported, held_back)}
    pairs = np.array([(before[key], after[key]) for key in before])
    likeness = float(np.corrcoef(pairs.T)[0, 1])
    print(f"scores of {len(pairs)} pairs before and after rounding: correlation {likeness:.4f}")
    if likeness < LEAST_CORRELATION:
        sys.exit(f"not fit to use: a correlation below {LEAST_CORRELATION}")


def export(model: JudgeModel, target: Path) -> None:
    """Write the model as an fp32 ONNX graph with free batch and sequence sizes."""
    ids = torch.arange(1000, 1032).reshape(2, 16)
    types = torch.zeros_like(ids)
    types[:, 8:] = 1
    mask = torch.ones_like(ids)
    mask[1, 10:] = 0  # a padded row: a mask of ones only would be traced away
    axes = {0: "batch", 1: "sequence"}
    torch.onnx.export(
        model,
        (ids, types, mask),
        target,
        input_names=["input_ids", "token_type_ids", "attention_mask"],
        output_names=["tokens", "pair"],
        dynamic_axes={
            "input_ids": axes,
            "token_type_ids": axes,
            "attention_mask": axes,
            "tokens": axes,
            "pair": {0: "batch"},
        },
        opset_version=17,
        dynamo=False,
    )


if __name__ == "__main__":
    main()
