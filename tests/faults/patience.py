"""Other times than the product's for a language model, for tests and measurements."""

import time
from collections.abc import Callable

from bythebook.adapters.providers.agents.runs import Runs
from bythebook.adapters.providers.resilience import Policy, Provider
from bythebook.bootstrap import Core
from bythebook.errors import ModelFailed, ModelTimeout


def with_policy(
    core: Core, policy: Policy, clock: Callable[[], float] = time.monotonic
) -> Provider:
    """Hold the model of a core to other times; before anything is asked of it."""
    assert core.runs is not None, "no language model is set"
    provider = Provider("The language model", ModelFailed, policy, clock, timed_out=ModelTimeout)
    core.__dict__["runs"] = Runs(core.runs.connection, provider)
    return provider
