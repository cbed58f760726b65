"""Makes the environment that the peers run in, or keeps an existing one."""

import re
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

LOCK = Path(__file__).resolve().parents[2] / "requirements" / "bench.txt"
TORCH = "torch==2.13.0"  # not in the lock: the machine's own pip settings choose its build


def prepare(folder: Path) -> None:
    """Install the peers once for each state of the lock file."""
    mark = folder / "bench.done"
    wanted = f"{sha256(LOCK.read_bytes()).hexdigest()} {TORCH}"
    if mark.is_file() and mark.read_text("ascii") == wanted:
        return
    print(f"Installing the peers into {folder} ...", flush=True)
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    failures = [_install(python, TORCH), _install(python, "--require-hashes", "-r", str(LOCK))]
    if any(failures):
        print("\n".join(filter(None, failures)))
        _install_one_by_one(python, folder / "one.txt")
    else:
        mark.write_text(wanted, "ascii")


def _install(python: Path, *what: str) -> str:
    """Install packages; return the reason for a failure, or an empty string."""
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run([*command, *what], check=False, capture_output=True, text=True)
    return (done.stderr.strip().splitlines() or ["no reason given"])[-1] if done.returncode else ""


def _install_one_by_one(python: Path, one: Path) -> None:
    """Install each package by itself, so that a missing one affects only the peers that need it."""
    for block in re.split(r"\n(?=\S)", LOCK.read_text("ascii")):
        one.write_text(block + "\n", "ascii")
        if failure := _install(python, "--require-hashes", "--no-deps", "-r", str(one)):
            print(f"not installed: {block.split()[0]}: {failure}", flush=True)


if __name__ == "__main__":
    prepare(Path(sys.argv[1]))
