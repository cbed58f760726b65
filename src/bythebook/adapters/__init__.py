"""One vendor each, no decisions; vendor exceptions become ours here."""

import os

# From 1.29 on, ONNX Runtime reports its use to its maker unless this stands before it is loaded.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
