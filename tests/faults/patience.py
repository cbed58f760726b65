"""Other times than the product's for a language model, for tests and measurements."""

import time
from collections.abc import Callable

from bythebook.adapters.providers.agents.calls.model_calls import ModelCalls
from bythebook.adapters.providers.resilience import Policy, Provider
from bythebook.bootstrap import Core
from bythebook.errors import ModelFailed, ModelTimeout


def with_policy(
    core: Core, policy: Policy, clock: Callable[[], float] = time.monotonic
) -> Provider:
    """Hold the model of a core to other times; before anything is asked of it."""
    assert core.model_calls is not None, "no language model is set"
    provider = Provider("The language model", ModelFailed, policy, clock, timed_out=ModelTimeout)
    core.replace(model_calls=ModelCalls(core.model_calls.endpoint, provider))
    return provider
