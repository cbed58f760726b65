"""Put the judge into the package: `python -m training.ship WORK`.

Copies WORK/judge/model.onnx and weights.json, checks them against what the package promises, and writes the hash that
names the model. The card (models/judge/README.md) is written by hand from what `make eval` prints.
"""

import hashlib
import re
import shutil
import sys
from pathlib import Path

from bythebook.adapters.models.inference import Crew
from bythebook.adapters.models.judge_model import MODELS, JudgeModel, load_weights
from bythebook.adapters.models.minilm import MiniLm
from bythebook.ask.read.judge import ReadingJudge

MOST_BYTES = 40_000_000
CODE = MODELS.parent / "adapters" / "models" / "judge_model.py"


def main() -> None:
    """Check, copy, name."""
    built = Path(sys.argv[1]) / "judge"
    model = built / "model.onnx"
    if model.stat().st_size > MOST_BYTES:
        sys.exit(f"{model} has {model.stat().st_size:,} bytes, more than {MOST_BYTES:,}.")
    weights = load_weights(built / "weights.json")
    ReadingJudge(JudgeModel(Crew(1), model), MiniLm(threads=1), weights)  # they fit together
    for name in ("model.onnx", "weights.json"):
        shutil.copyfile(built / name, MODELS / "judge" / name)
    digest = hashlib.sha256(model.read_bytes() + (built / "weights.json").read_bytes()).hexdigest()
    named = re.sub(r"(bythebook-judge-int8@)[0-9a-f]{8}", rf"\g<1>{digest[:8]}", CODE.read_text())
    CODE.write_text(named)
    print(f"shipped {digest[:8]}, {model.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
