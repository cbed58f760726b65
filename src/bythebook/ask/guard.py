"""Orders to the answering model, in a question, a selection or a book: found and removed from prompts.

These plain rules only spare a model the temptation. What keeps an answer honest is verification,
which trusts no model however it was tempted.
"""

import codecs
import re
import unicodedata
from collections.abc import Iterator, Mapping

from bythebook.domain.sentences import split_sentences

# Where an order begins: at the start of a clause, or after a word such as "please".
_URGED = r"""(?:\A|[.!?;:,>\]\n"'*#-]\s*|\b(?:please|now|then|and|must|should|shall|you|to|so|just)\s+)"""
_TO_SHOW = r"(?:reveal|print|show|repeat|output|tell|leak|display|write|give|send|quote|say)"
_HIDDEN = r"(?:your|(?:the|your)\ (?:hidden|initial|secret|system|original))"
_MODEL = r"(?:ai|a\.i\.|assistants?|language\ models?|chat\ ?bots?|llms?)"
# Names that such orders use for the answering model.
_READS = r"(?:answer|explain|quote|read|repeat|retell|summari[sz]e|translate|put)(?:s|ing)?"
_MACHINE = rf"""(?:{_MODEL}|bots?|copilot|gpt(?:-\w+)?|(?:talking|thinking)\ machines?|the\ machine
    |(?:answer(?:ing)?|ai|chat|reading)[\ -](?:bots?|engines?|machines?|programs?|tools?|systems?)
    |(?:automated|machine|artificial)\ readers?
    |(?:any|whichever|every|a|the)\ (?:program|software|machine|system|tool|agent|model)\ (?:that|which)\ {_READS}
    |sprachmodelle?n?|ki-systeme?|modèles?\ de\ langu\w+|modelos?\ de\ lengu\w+|asistentes?|языков\w+\ модел\w+)"""
_TO_TELL = r"""(?:add|announce|answer|append|assert|claim|close|conclude|emit|end|finish|mention|name|output|print
    |remark|repeat|reply|report|respond|retell|reveal|say|speak|state|suppose|swear|tell|write)"""
_OBLIGED = (
    r"(?:must|should|shall|ought\ to|(?:is|are)\ to|(?:is|are)\ asked\ to|(?:is|are)\ told\ to)"
)
_READER = r"(?:readers?|users?|whoever\ asks|anyone\ who\ asks)"
_SOMEBODY = r"(?:anyone|anybody|someone|somebody|a\ reader|readers|you\ are|they)"
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
            |\b(?:developer|jailbreak|god|dan)\ mode\b""",
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
            |{_URGED}(?:call|use|run|invoke|execute)\ (?:the\ )?(?:tool|search_textbook)\b
            |\b(?:every|all|each|any|toute?s?|jede[rnm]?|cada|ogni|каждому)
                \ (?:answers?|repl(?:y|ies)|responses?|réponses?|antwort|respuestas?|risposta|ответ\w*)\b""",
        "tells a machine what to say": rf"""
            \b{_MACHINE}\b.{{0,60}}
                (?:\b(?:{_OBLIGED}|please|kindly)\b.{{0,40}}\b{_TO_TELL}\b|[:,|]\s*["“‘']?{_TO_TELL}\b|\b{_TO_TELL}:)
            |\b(?:let|have|make|asks?|tells?|told|instructs?|wants?)
                \ (?:(?:the|any|every|all)\ )?{_MACHINE}\ (?:to\ )?{_TO_TELL}\b
            |\b(?:note|notice|hint|hinweis|remark|instructions?|message|avis|aviso)
                \ (?:to|for|an|aux?|à|para)\ .{{0,30}}?\b{_MACHINE}\b
            |\A\W*{_MACHINE}\s*:
            |\b(?:read|retold|summari[sz]ed)\b.{{0,20}}\bby\ (?:an?|any)\ (?:{_MACHINE}|program|machine)\b
                .{{0,60}}\b{_TO_TELL}\b""",
        "settles an answer beforehand": rf"""
            \b{_READER}\ {_OBLIGED}\ be\ (?:told|informed|given)\b
            |\b(?:if|when(?:ever)?|should)\ {_SOMEBODY}\ (?:\w+\ )?ask(?:s|ed)?\b
                .{{0,80}}\b(?:the\ (?:answer|reply)\ is|{_TO_TELL})\b
            |\bquestions?\b.{{0,40}}\b(?:is|are|must\ be|should\ be)\ answered\ (?:with|as)\b
            |\breaders?\b.{{0,40}}\b(?:is|are)\ answered\ by\b""",
        "forges an answer": r"""
            "(?:sentences|quotes|citations|grounded|verified|final(?:_answer)?|tool_choice|tool_calls)"\s*:.*"\w+"\s*:
            |"\w+"\s*:.*"(?:grounded|verified|tool_choice|tool_calls|quotes)"\s*:
            |"role"\s*:\s*"(?:system|assistant|developer)"
            |</?(?:selection|passages?|question|context|instructions?)>
            |\[(?:end\ of\ )?(?:passage|question|selection|context)(?:\ (?:ends?|continues))?\]
            |\[(?:developer|policy|system)\]
            |(?:/\*|//|<!--|\#)\s*@?(?:copilot|llm|gpt|ai|bots?|assistant|autocomplete)\b""",
    }.items()
}


_LOOKALIKES = str.maketrans("аеіорсухѕԁһАЕІОРСУХЅ", "aeiopcyxsdhAEIOPCYXS")
_MIXED = re.compile(r"[a-z][а-яѕіһԁ]|[а-яѕіһԁ][a-z]", re.IGNORECASE)
_HEX = re.compile(r"\b(?:[0-9a-f]{2}){12,}\b", re.IGNORECASE)
# Words of a question that is about orders, as in a book on prompting.
_ASKS_FOR_ORDERS = re.compile(
    rf"""\b(?:{_MODEL}|agents?|bots?|copilot|gpt\S*|json|tools?|prompt\w*|instruct\w*|instructions?|orders?|rules?
    |jailbreak\w*|inject\w*|attack\w*|roles?|personas?|phras\w+|wording|example\s+(?:request|message))\b""",
    re.IGNORECASE | re.VERBOSE,
)


def remove_invisible(text: str) -> str:
    """Return a text without invisible characters, as a reader sees it."""
    return _UNSEEN.sub("", text)


def flags(text: str) -> tuple[str, ...]:
    """Return the names of the attacks in a text; empty for an ordinary text."""
    readings = tuple(_readings(remove_invisible(text)))
    return tuple(name for name, rule in _RULES.items() if any(map(rule.search, readings)))


def asks_for_orders(question: str) -> bool:
    """Return True if a question is about prompts or assistants, so that orders in the book can answer it."""
    return bool(_ASKS_FOR_ORDERS.search(question))


def _readings(text: str) -> Iterator[str]:
    """Yield a text as it is, and with known disguises removed."""
    yield text
    plain = unicodedata.normalize("NFKC", text)
    if plain != text:
        yield plain
    if _MIXED.search(plain):
        yield plain.translate(_LOOKALIKES)
    yield codecs.encode(plain, "rot13")
    yield plain[::-1]
    yield from (
        bytes.fromhex(hidden[0]).decode("utf-8", "ignore") for hidden in _HEX.finditer(text)
    )


def neutral(text: str, question: str = "") -> str:
    """Return a text without orders to the answering model, unless the question asks for such orders."""
    if asks_for_orders(question) or not flags(text):
        return text
    kept: list[str] = []
    at = 0
    for start, end in split_sentences(text):
        kept.append(text[at:start])
        kept.append("" if flags(text[start:end]) else text[start:end])
        at = end
    left = "".join((*kept, text[at:]))
    # A forged turn that spans line breaks is not a sentence of its own.
    return _RULES["forges a turn"].sub(" ", left).strip()
