"""Write the scorer as int8 ONNX: `python training/sentence_scorer/export.py RUN_FOLDER OUTPUT_FOLDER`.

Takes the run's checkpoint; leaves fp32.onnx in the run's folder and model.onnx in the output.
Needs the packages of requirements/build-models.txt.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections import Counter
from pathlib import Path

import onnx
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.transformers.fusion_options import FusionOptions
from onnxruntime.transformers.optimizer import optimize_model

from train import WIDTH, Scorer, load_scorer

HEADS, LAYERS, MOST_BYTES = 12, 6, 25_000_000
INPUTS = ["input_ids", "attention_mask", "token_type_ids"]


def load_trained(checkpoint: Path) -> Scorer:
    """Return the trained scorer with the plain attention that the optimiser recognises."""
    model = load_scorer("eager")
    model.load_state_dict(torch.load(checkpoint, weights_only=True)["model"])
    model.eval()
    return model


def export(model: Scorer, target: Path) -> None:
    """Write the model as an fp32 graph with free batch and sequence sizes."""
    ids = torch.arange(1000, 1032).reshape(2, 16)
    # A padded row and two segments: constants would be traced away.
    mask, types = torch.ones_like(ids), torch.zeros_like(ids)
    mask[1, 10:] = 0
    types[:, 6:] = 1
    axes = {name: {0: "batch", 1: "sequence"} for name in INPUTS}
    torch.onnx.export(
        model,
        (ids, mask, types),
        target,
        input_names=INPUTS,
        output_names=["logit"],
        dynamic_axes={**axes, "logit": {0: "batch"}},
        opset_version=17,
        dynamo=False,
    )


def optimise(source: Path, target: Path) -> None:
    """Fuse attention, embedding and GELU; skip connections stay apart, as for the embedder."""
    options = FusionOptions("bert")
    options.enable_skip_layer_norm = False
    options.enable_bias_skip_layer_norm = False
    optimize_model(
        str(source),
        model_type="bert",
        num_heads=HEADS,
        hidden_size=WIDTH,
        optimization_options=options,
    ).save_model_to_file(str(target))


def quantise(source: Path, target: Path) -> None:
    """Store weights as int8 per channel, and stop if the graph is not as expected."""
    quantize_dynamic(
        source,
        target,
        per_channel=True,
        weight_type=QuantType.QInt8,
        extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT},
    )
    nodes = Counter(node.op_type for node in onnx.load(target).graph.node)
    if nodes["QAttention"] != LAYERS or nodes["QEmbedLayerNormalization"] != 1:
        sys.exit(f"the graph was not fused as expected: {dict(nodes)}")
    if target.stat().st_size > MOST_BYTES:
        sys.exit(f"{target.stat().st_size} bytes are too many")


def main() -> None:
    """Read the command line and export."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("output", type=Path)
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    export(load_trained(options.run / "checkpoint.pt"), options.run / "fp32.onnx")
    optimise(options.run / "fp32.onnx", options.run / "fused.onnx")
    model = options.output / "model.onnx"
    quantise(options.run / "fused.onnx", model)
    print(model.stat().st_size, hashlib.sha256(model.read_bytes()).hexdigest())


if __name__ == "__main__":
    main()
