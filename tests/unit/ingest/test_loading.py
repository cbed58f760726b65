"""What takes long to load is loaded where it is configured, and there before the first question."""

import json
import os
import subprocess
import sys
from pathlib import Path

VENDORS = ("agents", "openai", "cohere", "qdrant_client", "httpx2")
_TELL = f"import json, sys; print(json.dumps([m for m in {VENDORS} if m in sys.modules]))"


def list_vendors(code: str, folder: Path, **environment: str) -> set[str]:
    """Run code in a process of its own, and tell which vendors it loaded."""
    plain = {k: v for k, v in os.environ.items() if not k.startswith("BYTHEBOOK_")}
    given = plain | {"BYTHEBOOK_DATA_DIR": str(folder)} | environment
    run = subprocess.run(
        [sys.executable, "-c", f"{code}\n{_TELL}"],
        capture_output=True,
        text=True,
        env=given,
        cwd=folder,
        check=True,
    )
    return set(json.loads(run.stdout.splitlines()[-1]))


def test_nothing_of_providers_is_loaded_without_their_settings(tmp_path: Path) -> None:
    keys = {"OPENAI_API_KEY": "sk-1", "OPENROUTER_API_KEY": "sk-2"}
    code = (
        "import bythebook.cli\nfrom bythebook.bootstrap import Core\n"
        "from bythebook.settings import load_settings\n"
        "core = Core(load_settings())\ncore.ask\ncore.service()"
    )
    assert list_vendors(code, tmp_path, **keys) == set()


def test_the_command_to_ask_loads_nothing_of_providers(tmp_path: Path) -> None:
    code = (
        "from typer.testing import CliRunner\nfrom bythebook.cli import app\n"
        "CliRunner().invoke(app, ['ask', 'What is a node?'])"
    )
    assert list_vendors(code, tmp_path) == set()


def test_a_model_is_loaded_with_the_service_not_with_the_first_question(tmp_path: Path) -> None:
    code = (
        "from bythebook.bootstrap import Core\nfrom bythebook.settings import load_settings\n"
        "core = Core(load_settings())\nimport sys\nassert 'agents' not in sys.modules\ncore.service()"
    )
    told = list_vendors(code, tmp_path, BYTHEBOOK_LLM_BASE_URL="http://127.0.0.1:9/v1")
    assert "agents" in told
    assert not told & {"cohere", "qdrant_client"}
