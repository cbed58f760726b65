"""Make the judge small: `python -m training.export WORK [--checkpoint]`.

Writes WORK/judge/model.onnx, int8, from WORK/run/judge.pt, or from the last checkpoint of a training that is
still going on.
"""

import sys
import tempfile
from pathlib import Path

import torch
from tools.build_embedder import optimise, quantise

from training.model import JudgeModel
from training.weights import base_weights


def main() -> None:
    """Export, fuse and quantise."""
    work = Path(sys.argv[1])
    model = JudgeModel(base_weights(), attention="eager")
    model.load_state_dict(_state(work, checkpoint="--checkpoint" in sys.argv))
    model.eval()
    (work / "judge").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        plain, fused = Path(scratch) / "plain.onnx", Path(scratch) / "fused.onnx"
        export(model, plain)
        optimise(plain, fused)
        quantise(fused, work / "judge" / "model.onnx")
    print(f"{(work / 'judge' / 'model.onnx').stat().st_size / 1e6:.1f} MB")


def _state(work: Path, *, checkpoint: bool) -> dict[str, torch.Tensor]:
    if checkpoint:
        state: dict[str, torch.Tensor] = torch.load(work / "run" / "last.pt", weights_only=False)[
            "model"
        ]
        return state
    finished: dict[str, torch.Tensor] = torch.load(work / "run" / "judge.pt")
    return finished


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
