"""Orders to whoever answers, in a question, a selection or a book: noticed and taken out of prompts.

These plain rules only spare a model the temptation. What keeps an answer honest is verification,
which trusts no model however it was tempted.
"""

import re
from collections.abc import Mapping

from bythebook.domain.sentences import split_sentences

# Where an order begins: at the start of a clause, or after a word that urges.
_URGED = r"""(?:\A|[.!?;:,>\]\n"'*#-]\s*|\b(?:please|now|then|and|must|should|shall|you|to|so|just)\s+)"""
_TO_SHOW = r"(?:reveal|print|show|repeat|output|tell|leak|display|write|give|send|quote|say)"
_HIDDEN = r"(?:your|(?:the|your)\ (?:hidden|initial|secret|system|original))"
_MODEL = r"(?:ai|a\.i\.|assistants?|language\ models?|chat\ ?bots?|llms?)"
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
_RULES: Mapping[str, re.Pattern[str]] = {
    name: re.compile(pattern, re.IGNORECASE | re.VERBOSE)
    for name, pattern in {
        "sets rules aside": rf"""
            {_URGED}(?:ignore|disregard|forget|override|bypass|drop|discard|skip)\b.{{0,60}}
            \b(?:instructions?|rules?|prompts?|guidelines?|directions?|directives?|orders|context
            |restrictions?|passages|everything\ (?:above|before|else)|constraints?|training)\b""",
        "assigns a role": r"""
            \byou\ are\ (?:now|no\ longer|from\ now)\b
            |\bfrom\ now\ on,?\ (?:you|answer|reply|respond)
            |\b(?:pretend|imagine)\ (?:to\ be|that\ you|you)\b
            |\byou\ (?:must|will|shall|should)\ (?:now\ )?act\ as\b|\A\W*act\ as\b
            |\b(?:developer|jailbreak|debug|god|dan)\ mode\b""",
        "asks for secrets": rf"""
            {_URGED}{_TO_SHOW}\b(?!\ (?:me\ )?(?:how|why|what|when|where)\b).{{0,60}}
            \b(?:system\ (?:prompt|message)|{_HIDDEN}\ (?:instructions|prompts?|rules|keys?|secrets?)
            |api\ keys?|(?:your|the)\ (?:admin\ )?passwords?|credentials|environment\ variables?)\b""",
        "forges a turn": r"""
            (?:\A|\n)\W*(?:system|assistant|developer|user|human)\s*:
            |<\|[a-z_]+\|>|\[/?INST\]|<</?SYS>>|</?(?:system|assistant)>
            |\#{2,}\s*(?:system|instructions?|response)\b|\bBEGIN\ (?:SYSTEM|INSTRUCTIONS)""",
        "speaks to the model": rf"""
            \b(?:dear|attention|note\ to|message\ (?:to|for)|hey|hello),?\ (?:the\ |all\ |any\ )?{_MODEL}\b
            |\b{_MODEL}\ (?:must|should|shall|reading\ this|that\ reads?)\b
            |\b(?:if|when|as)\ you\ are\ an?\ {_MODEL}\b""",
        "dictates an answer": rf"""
            {_URGED}(?:answer|respond|reply|say|write|output|print|end|begin|start)\b.{{0,30}}
            \b(?:only|exactly|always|instead|every\ (?:answer|reply|response|question))\b
            |\binstead\ of\ answering\b
            |{_URGED}(?:do\ not|don't|never)\ (?:answer|cite|quote|use\ the\ passages?)\b
            |{_URGED}(?:call|use|run|invoke|execute)\ (?:the\ )?(?:tool|function|search_textbook)\b""",
    }.items()
}


def seen(text: str) -> str:
    """Give a text as a reader sees it, without letters that take no room."""
    return _UNSEEN.sub("", text)


def flags(text: str) -> tuple[str, ...]:
    """Name what a text tries with whoever answers; nothing of an ordinary text."""
    text = seen(text)
    return tuple(name for name, rule in _RULES.items() if rule.search(text))


def neutral(text: str) -> str:
    """Give a text without the sentences that order the answerer about."""
    if not flags(text):
        return text
    kept: list[str] = []
    at = 0
    for start, end in split_sentences(text):
        kept.append(text[at:start])
        kept.append("" if flags(text[start:end]) else text[start:end])
        at = end
    left = "".join((*kept, text[at:]))
    # What only forges a turn together with its line breaks is no sentence of its own.
    return _RULES["forges a turn"].sub(" ", left).strip()
