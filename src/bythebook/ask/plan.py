"""Question -> plan: which of the two ways it is answered."""

import re

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


def make_plan(question: Question) -> Plan:
    """Answer from the selection where there is one, else from the book."""
    selected = question.scope.selected_text
    text = question.text.strip()
    return Plan(
        mode="selected_text_only" if selected is not None else "standard_rag",
        question=text,
        top_k=question.top_k,
        book_id=question.scope.book_id,
        selected_text=selected,
        overview=selected is not None and bool(_OVERVIEW.fullmatch(text)),
    )
