#!/usr/bin/env bash
# Train the judge and the embedder, from wherever the last run stopped: training/run_all.sh WORK [QUESTIONS]
#
# PYTHON names the interpreter that has torch and the packages of requirements/build-models.txt and run.txt.
# Every step that is done returns at once, so the same command goes on after an interruption. Questions that were
# written meanwhile are read from the next phase on.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$1
questions=${2:-training/questions}
python=${PYTHON:-python}
export PYTHONPATH="$PWD/src:$PWD"

train_phases() { # FIRST LAST
    for phase in $(seq "$1" "$2"); do
        # A phase that has begun goes on with what it chose then.
        [ -f "$work/run/phase-$((phase - 1)).jsonl" ] || "$python" -m training.prepare "$work" --questions "$questions"
        "$python" -m training.train "$work" --phases "$phase"
    done
}

train_phases 1 6
"$python" -m training.tune_embedder "$work" --base e5-small
built="$work/embedder-e5-small/int8"
if [ ! -f "$work/run/recall.txt" ]; then
    "$python" tools/build_embedder.py "$work/embedder-e5-small" --output "$built" --candidate
    cp "$work/embedder-e5-small/prefixes.json" "$built/"
    "$python" -m training.recall "$work" src/bythebook/models/embedder "$built" > "$work/run/recall.part"
    mv "$work/run/recall.part" "$work/run/recall.txt"
fi
train_phases 7 24
"$python" -m training.export "$work"
"$python" -m training.dev "$work" src/bythebook/models/judge/model.onnx "$work/judge/model.onnx" | tee "$work/run/dev.txt"
