"""What runs here tells nobody about it."""

import os
import subprocess
import sys
from pathlib import Path

CODE = """
import bythebook.cli  # as the command does
from bythebook.adapters.models.minilm import MiniLm
assert MiniLm().encode(["words"]).shape == (1, 384)
"""


def test_the_model_runtime_leaves_no_mark_of_a_report_to_its_maker(tmp_path: Path) -> None:
    """ONNX Runtime writes a session file and a device id where it is about to report."""
    given = {name: value for name, value in os.environ.items() if "TELEMETRY" not in name}
    # It also keeps still where it thinks it is being tested, which would make this test idle.
    tested = ("CI", "GITHUB_ACTIONS", "TF_BUILD", "BUILD_ID", "JENKINS_URL")
    environment = {name: value for name, value in given.items() if name not in tested}
    environment |= {"HOME": str(tmp_path), "TMPDIR": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    subprocess.run(
        [sys.executable, "-c", CODE], env=environment, cwd=tmp_path, check=True, timeout=300
    )
    assert list(tmp_path.iterdir()) == []
