"""What work takes of the processor: its seconds differ between machines, their ratio hardly does."""

import time
from collections.abc import Callable


def processor_seconds(work: Callable[[], object], tries: int = 5) -> float:
    """Give the least of several tries, which is the one that others disturbed least."""
    return min(_once(work) for _ in range(tries))


def _once(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun
