"""Question -> plan: from the selection, or from the book."""

import re

from bythebook.ask.plan.parts import split_parts
from bythebook.domain.questions import Plan, Question

_OVERVIEW = re.compile(
    r"""(?=.*\b(?:this|that|these|those|it|passage|paragraph|text|section|selection|sentences?|part|excerpt)\b)
    (?:please|(?:can|could|would)\ you|\W)*
    (?:explain|summari[sz]e|clarify|describe|rephrase|what\ (?:does|do|is|are)|what's
      |tell\ me\ about|help\ me\ understand)
    (?:\ (?:me|us|to|the|this|that|these|those|it|is|selected|highlighted|above|following|passage|paragraph|text
      |section|selection|sentences?|part|excerpt|mean|means|say|says|about|all|here|in|simple|words|briefly|please))+
    \W*""",
    re.IGNORECASE | re.VERBOSE,
)

_GREETING = re.compile(
    r"""\W*(?:hi(?:ya)?|hello|hey|howdy|hallo|hola|greetings|good\ (?:morning|afternoon|evening|day))
    (?:\W+(?:hi|hello|there|again|all|everyone|everybody|bot|assistant|book|how\ are\ you|to\ you))*\W*""",
    re.IGNORECASE | re.VERBOSE,
)
_ASKS_FOR_LIST = re.compile(
    r"""\bhow\ (?:do|can|could|should|would|must|may)\ (?:I|we|you|one)\b|\bhow\ to\b
    |\b(?:steps?|step-by-step|procedure|instructions\ (?:for|to)|stages|phases
    |lists?|enumerate|itemi[sz]e|name\ (?:all|the))\b
    |\bwhat\ are\ the\b|\b(?:which|what)\b.*\bare\ there\b""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)


def is_greeting(text: str) -> bool:
    """Return True if a text is only a greeting."""
    return bool(_GREETING.fullmatch(text))


def asks_for_list(text: str) -> bool:
    """Return True if a question asks for steps or a list, which need more than a few sentences."""
    return bool(_ASKS_FOR_LIST.search(text))


def make_plan(question: Question) -> Plan:
    """Plan to answer from the selection if there is one, else from the book or a section of it."""
    selected, section = question.scope.selected_text, question.scope.section
    text = question.text.strip()
    overview = (selected is not None or section is not None) and bool(_OVERVIEW.fullmatch(text))
    # A selection is what a message sent with it is about.
    alone = selected is not None or overview
    parts = split_parts(text)
    return Plan(
        mode="selected_text_only" if selected is not None else "standard_rag",
        question=text,
        top_k=question.top_k,
        book_id=question.scope.book_id,
        selected_text=selected,
        most_sentences=question.most_sentences,
        readable=question.scope.readable,
        overview=overview,
        section=section,
        least_similarity=question.least_similarity,
        parts=parts if len(parts) <= question.top_k else (),  # each needs a passage of its own
        turns=() if alone else question.turns,
        model=question.model,
    )
