"""Installs a wheel as a new user would, into a fresh venv, and asks the demo a question.

Usage: python -m tools.try_wheel DIST
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PATIENCE_SECONDS = 300
QUESTION = "How do ROS 2 nodes communicate?"


def main() -> None:
    """Build a venv, install, serve, ask, print how long each took."""
    wheels = sorted(
        Path(sys.argv[1]).glob("bythebook-*.whl"), key=lambda path: path.stat().st_mtime
    )
    if not wheels:
        sys.exit(f"There is no wheel in {sys.argv[1]}: run make wheel.")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        started = time.monotonic()
        subprocess.run([sys.executable, "-m", "venv", str(home / "venv")], check=True)
        pip = [str(home / "venv" / "bin" / "pip"), "install", "--quiet"]
        locked = str(ROOT / "requirements" / "run.txt")
        subprocess.run([*pip, "--require-hashes", "-r", locked], check=True)
        subprocess.run([*pip, "--no-deps", str(wheels[-1])], check=True)
        installed = time.monotonic()
        print(f"installed  {installed - started:6.1f} s  {wheels[-1].name}")
        sections = ask_demo(home)
        print(f"answered   {time.monotonic() - installed:6.1f} s  from {', '.join(sections)}")


def ask_demo(home: Path) -> list[str]:
    """Serve the demo, ask a question, and return the sections that the answer cites."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = os.environ | {"BYTHEBOOK_DATA_DIR": str(home / "data")}
    command = [str(home / "venv" / "bin" / "bythebook"), "demo", "--port", str(port)]
    with (home / "said.txt").open("wb") as said:
        demo = subprocess.Popen(command, env=environment, cwd=home, stdout=said, stderr=said)
    try:
        reply = _ask(port, demo, home / "said.txt")
    finally:
        demo.terminate()
        demo.wait(60)
    citations = reply["answer"]["citations"]
    return list(dict.fromkeys(str(one["section"]) for one in citations))


def _ask(
    port: int, demo: "subprocess.Popen[bytes]", said: Path
) -> dict[str, dict[str, list[dict[str, object]]]]:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/api/query",
        json.dumps({"query": QUESTION}).encode(),
        {"Content-Type": "application/json"},
    )
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            with urllib.request.urlopen(request, timeout=60) as reply:  # noqa: S310 - loopback
                return json.loads(reply.read())  # type: ignore[no-any-return]
        except OSError as error:
            if demo.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"The demo does not answer: {error}\n{said.read_text('utf-8')[-2000:]}")
            time.sleep(0.2)


if __name__ == "__main__":
    main()
