"""Question -> plan -> passages -> verdict -> excerpts -> verified answer.

This is the front door: what other rooms may use of the answer path. How an outcome is presented is
in `bythebook.ask.show`. Only `calibrate` and `evaluate` look further inside.
"""

from bythebook.ask.ask_ports import AskPorts
from bythebook.ask.compose.extractive import ExtractiveGenerator
from bythebook.ask.conversation.context import MOST_TURNS
from bythebook.ask.conversation.topic_summary import topic_summary
from bythebook.ask.guard import neutralize
from bythebook.ask.pipeline import answer, collect
from bythebook.ask.plan.make_plan import asks_for_list, is_greeting, make_plan
from bythebook.ask.read.confidence import measure_confidence
from bythebook.ask.read.judge import ReadingJudge
from bythebook.ask.retrieve.passages import (
    find_passages,
    readable_books,
    require_embedder,
    selection_passage,
)
from bythebook.ask.retrieve.sections import MOST_TEXT, FoundSection, search_sections
from bythebook.ask.run import AnswerRun
from bythebook.ask.selection.section import find_section
from bythebook.ask.usage_meter import UsageMeter

__all__ = [
    "MOST_TEXT",
    "MOST_TURNS",
    "AnswerRun",
    "AskPorts",
    "ExtractiveGenerator",
    "FoundSection",
    "ReadingJudge",
    "UsageMeter",
    "answer",
    "asks_for_list",
    "collect",
    "find_passages",
    "find_section",
    "is_greeting",
    "make_plan",
    "measure_confidence",
    "neutralize",
    "readable_books",
    "require_embedder",
    "search_sections",
    "selection_passage",
    "topic_summary",
]
