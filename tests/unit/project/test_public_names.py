import subprocess
import sys

import bythebook


def test_the_public_names_are_there_and_sorted_and_importing_loads_none_of_them() -> None:
    script = """
import sys, bythebook
assert "bythebook.open_book" not in sys.modules
assert all(getattr(bythebook, name) for name in bythebook.__all__)
print(*sorted(bythebook.__all__))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == bythebook.__all__


def test_the_version_has_three_numbers() -> None:
    assert len([int(part) for part in bythebook.__version__.split(".")]) == 3
