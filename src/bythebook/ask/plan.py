"""Question -> plan: which of the two ways it is answered."""

from bythebook.domain.questions import Plan, Question


def make_plan(question: Question) -> Plan:
    """Answer from the selection where there is one, else from the book."""
    selected = question.scope.selected_text
    return Plan(
        mode="selected_text_only" if selected is not None else "standard_rag",
        question=question.text.strip(),
        top_k=question.top_k,
        book_id=question.scope.book_id,
        selected_text=selected,
    )
