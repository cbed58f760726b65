"""Outcome -> what the reader sees: text, links, sources and scores."""

from bythebook.ask.read.confidence import has_sufficient_context, merge_duplicates, similarities
from bythebook.ask.read.verdict import REFUSE_BELOW
from bythebook.ask.retrieve.relevance import QUERY_BOUNDARY, RAG_BOUNDARY, on_scale
from bythebook.ask.show.answer_text import answer_text, key_citations, split_answer
from bythebook.ask.show.links import (
    cite_for_good,
    message_citations,
    permalink,
    quote_check,
    quote_link,
    section_url,
)
from bythebook.ask.show.sources import MOST_QUOTES, Quality, answer_sources, retrieval_quality
from bythebook.ask.show.wording import (
    DISCLAIMER,
    advice,
    answer_opening,
    remove_opening,
    section_name,
)
from bythebook.ask.verify.quotes import ELLIPSIS
from bythebook.ask.verify.sentences import number_citations

__all__ = [
    "DISCLAIMER",
    "ELLIPSIS",
    "MOST_QUOTES",
    "QUERY_BOUNDARY",
    "RAG_BOUNDARY",
    "REFUSE_BELOW",
    "Quality",
    "advice",
    "answer_opening",
    "answer_sources",
    "answer_text",
    "cite_for_good",
    "has_sufficient_context",
    "key_citations",
    "merge_duplicates",
    "message_citations",
    "number_citations",
    "on_scale",
    "permalink",
    "quote_check",
    "quote_link",
    "remove_opening",
    "retrieval_quality",
    "section_name",
    "section_url",
    "similarities",
    "split_answer",
]
