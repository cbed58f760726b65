"""A question that asks several things -> its parts, each with what it refers to."""

import re
from collections.abc import Iterator

from bythebook.domain.questions import QuestionPart

MOST_PARTS = 3
MOST_CHARACTERS = 500  # a longer question tells a story, whose parts do not stand alone
_FEWEST_WORDS = 3
_ASKING = r"(?:what|who|whom|whose|which|when|where|why|how)"
_HELPING = r"""(?:is|are|was|were|does|do|did|can|could|should|would|will|shall|has|have|had|must|may|might)"""
# Words after which a clause that starts with a question word is a question of its own.
_OPENS = re.compile(
    rf"""(?:
    (?:what|who|whom|where|when|why|how)\ {_HELPING}\b
    |who\ (?!to\b)\w+|what\ (?!to\b|if\b|about\b)\w+\ \w+
    |how\ (?:many|much|long|often|far|fast|big|old|high|heavy|large|well)\b.*\b{_HELPING}\b
    |(?:which|what|whose)\ (?!{_HELPING}\b|of\b|to\b|one\b)\w+.*\b{_HELPING}\b
    |{_HELPING}\ \w+\ \w+
    |(?:please\ )?(?:explain|describe|define|name|list|tell\ me)\ \w+)""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
# A comma alone may open a clause that only describes: "its coach, who was hired last".
_JOINT = re.compile(
    rf"""\s*[,;]?\s+and\s+(?:also\s+|then\s+)?(?={_ASKING}\s)
    |\s*[,;]\s*(?:but\s+)?(?=(?:what|how|why|where|when)\ {_HELPING}\s)""",
    re.VERBOSE,
)
_LEADING = re.compile(r"\A(?:and|also|but|so|then|or|plus)\b[\s,]*(?:also\s+)?", re.IGNORECASE)
_HANGS_TOGETHER = re.compile(
    r"""\b(?:between|differen\w+|differ|compar\w+|versus|vs|relat\w+|relationship|both|either|whether|respectively
    |depend\w*|if|than|rather|know|say|said|says|mentions?|think|decides?|determines?|when\ and\ where)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_POINTS_NOWHERE = re.compile(
    r"\b(?:does|did|will|would|can) it take\b|\b(?:I|we|you|one) do\Z", re.IGNORECASE
)
_POINTS = re.compile(
    r"\b(?:it|its|he|him|his|she|her|they|them|their|theirs|this|that|these|those|one|ones)\b",
    re.IGNORECASE,
)


def split_parts(question: str) -> tuple[QuestionPart, ...]:
    """Return the parts of a question, at most three; empty unless it clearly asks several things."""
    question = " ".join(question.split())
    pieces = list(_pieces(question)) if len(question) <= MOST_CHARACTERS else []
    if not 1 < len(pieces) <= MOST_PARTS or not all(map(_asks, pieces)):
        return ()
    if _POINTS.search(pieces[0]) or any(map(_POINTS_NOWHERE.search, pieces)):
        return ()
    parts: list[QuestionPart] = []
    for piece in pieces:
        before = parts[0].question if parts and _POINTS.search(piece) else ""
        parts.append(QuestionPart(f"{piece[0].upper()}{piece[1:]}?", piece, before))
    return tuple(parts)


def _pieces(question: str) -> Iterator[str]:
    """Split at question marks, and within a question before another question word."""
    for sentence in re.split(r"\?+(?=\s|$)", question):
        clauses = _JOINT.split(sentence.strip())
        whole = _hangs_together(sentence) or not all(map(_asks, clauses))
        for clause in [sentence] if whole else clauses:
            piece = _LEADING.sub("", clause.strip(" ,;"), count=1)
            if piece:
                yield piece


def _hangs_together(sentence: str) -> bool:
    same_person = len(re.findall(r"\bwho\b", sentence.lower())) > 1
    return same_person or bool(_HANGS_TOGETHER.search(sentence))


def _asks(clause: str) -> bool:
    clause = _LEADING.sub("", clause.strip(), count=1)
    ended = re.search(r"[.!;:]\s", clause)  # a statement next to the question
    words = len(clause.split())
    return words >= _FEWEST_WORDS and not ended and bool(_OPENS.match(clause))
