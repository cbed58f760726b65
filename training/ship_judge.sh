#!/usr/bin/env bash
# Export the judge, fit how its readings are put together, and put it into the package:
#   training/ship_judge.sh WORK [--checkpoint]
#
# Afterwards run the tests of the judge and `make eval`, and write the card (models/judge/README.md) from what they print.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$1
shift
python=${PYTHON:-python}
export PYTHONPATH="$PWD/src:$PWD"

"$python" -m training.export "$work" "$@"
"$python" -m training.dev "$work" src/bythebook/models/judge/model.onnx "$work/judge/model.onnx" | tee "$work/run/dev.txt"
"$python" -m training.fit "$work" | tee "$work/run/fit.txt"
"$python" -m training.ship "$work"
