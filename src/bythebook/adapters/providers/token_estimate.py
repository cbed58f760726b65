"""How many tokens a provider will read, near enough to cut books and to foresee costs by.

Providers keep their vocabularies on the network, and nothing is loaded from there. So this counts
as vocabularies are made: a short word is one token, a longer one has one for each four letters,
digits and signs go by few, scripts that take more bytes take more tokens. Of English prose it
counts a little too many, of code and rare scripts not far too few.
"""

import re
from collections.abc import Sequence

# Words of ASCII letters, numbers, letters of two bytes, letters of three, all else but spaces.
_PARTS = re.compile(
    r"(?P<ascii>[A-Za-z]+)|(?P<digits>[0-9]+)|(?P<two>[\u0080-\u07ff]+)"
    r"|(?P<three>[\u0800-\uffff]+)|(?P<four>[\U00010000-\U0010ffff]+)|(?P<signs>[^\sA-Za-z0-9])"
)
# Characters that one token stands for, at the least that is common.
_CHARACTERS = {"ascii": 4.5, "digits": 2.0, "two": 2.0, "three": 0.7, "four": 0.33, "signs": 1.0}
_FRAME = 2  # tokens that models put around a text


def estimated_tokens(texts: Sequence[str]) -> list[int]:
    """Estimate what a provider's model reads of each text."""
    return [_FRAME + sum(map(_tokens, _PARTS.finditer(text))) for text in texts]


def _tokens(part: re.Match[str]) -> int:
    kind = part.lastgroup or "signs"
    return -int(-len(part.group()) // _CHARACTERS[kind])
