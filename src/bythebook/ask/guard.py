"""Orders to the answering model in a book or a selection: found and removed from prompts.

Only surest cases: a sentence of the book that is kept from a model cannot answer. What keeps an answer honest is
verification, which trusts no model however it was tempted. A reader's question is never touched.
"""

import codecs
import re
import unicodedata
from collections.abc import Iterator, Mapping

from bythebook.domain.text.sentences import split_sentences

# Where an order begins: at the start of a clause, or after a word such as "please".
_URGED = r"""(?:\A|[.!?;:,>\]\n"'*#-]\s*|\b(?:please|now|then|and|must|shall|just)\s+)"""
_TO_SHOW = r"(?:reveal|print|show|repeat|output|tell|leak|display|write|give|send|quote|say)"
_HIDDEN = r"(?:your|the\ (?:hidden|initial|secret|system|original))"
_RULES_SET = r"""(?:instructions?|rules?|prompts?|guidelines?|directions?|directives?|orders|context|restrictions?
    |passages|constraints?|training)"""
_MODEL = r"(?:ai|a\.i\.|assistants?|language\ models?|chat\ ?bots?|llms?)"
# Names that such orders use for the answering model.
_READS = r"(?:answer|explain|quote|read|repeat|retell|summari[sz]e|translate|put)(?:s|ing)?"
_MACHINE = rf"""(?:{_MODEL}|bots?|copilot|gpt(?:-\w+)?|(?:talking|thinking)\ machines?
    |(?:answer(?:ing)?|ai|chat|reading)[\ -](?:bots?|engines?|machines?|programs?|tools?|systems?)
    |(?:automated|machine|artificial)\ readers?
    |(?:any|whichever|every|a|the)\ (?:program|software|machine|system|tool|agent|model)\ (?:that|which)\ {_READS}
    |sprachmodelle?n?|ki-systeme?|modèles?\ de\ langu\w+|modelos?\ de\ lengu\w+|asistentes?|языков\w+\ модел\w+)"""
_TO_TELL = r"""(?:add|announce|answer|append|assert|claim|close|conclude|emit|end|finish|mention|name|output|praise
    |print|remark|repeat|reply|report|respond|retell|reveal|say|speak|state|suppose|swear|tell|write)"""
_OBLIGED = (
    r"(?:must|should|shall|ought\ to|(?:is|are)\ to|(?:is|are)\ asked\ to|(?:is|are)\ told\ to)"
)
_ASKER = r"(?:readers?(?:\ who\ asks?)?|whoever\ asks|anyone\ who\ asks)"
_SOMEBODY = r"(?:anyone|anybody|someone|somebody|a\ reader|readers|you\ are|they)"
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
_RULES: Mapping[str, re.Pattern[str]] = {
    name: re.compile(pattern, re.IGNORECASE | re.VERBOSE)
    for name, pattern in {
        "sets rules aside": rf"""
            {_URGED}(?:ignore|disregard|forget|override|bypass|drop|discard|skip)\s+(?:
                (?:\w+\s+){{0,3}}?(?:previous|prior|earlier|preceding|your|system|safety|other|original)\b
                    .{{0,30}}\b{_RULES_SET}\b
                |(?:\w+\s+){{0,3}}?{_RULES_SET}\ (?:above|before|you\ were\ given)\b
                |everything\ (?:above|before|else)\b)""",
        "assigns a role": rf"""
            \byou\ are\ (?:now|no\ longer|from\ now\ on)\ (?:an?\ |the\ )?(?:\w+\ ){{0,2}}
                (?:{_MODEL}|dan|bound|character|persona|pirate|unfiltered|unrestricted)\b
            |\bfrom\ now\ on,?\ (?:you\ (?:must|shall|answer|reply|respond|say)|answer|reply|respond)\b
            |\bpretend\ (?:to\ be|(?:that\ )?you\ are)\b
            |\byou\ (?:must|will|shall|should)\ (?:now\ )?act\ as\b
            |\b(?:jailbreak|god|dan)\ mode\b""",
        "asks for secrets": rf"""
            {_URGED}{_TO_SHOW}\b(?!\ (?:me\ )?(?:how|why|what|when|where)\b).{{0,60}}
            \b(?:system\ (?:prompt|message)|{_HIDDEN}\ (?:\w+\ )?(?:instructions|prompts?|rules|secrets?)
            |your\ (?:api\ )?keys?|your\ (?:admin\ )?passwords?)\b""",
        "forges a turn": r"""
            (?:\A|\n)\W*(?:system|assistant|developer)\s*:\s.{0,80}
                \b(?:you|must|ignore|obey|answer|say|instructions?|never|always|sure|reply|print)\b
            |<\|[a-z_]+\|>|\[/?INST\]|<</?SYS>>|</?(?:system|assistant)>
            |\#{2,}\s*(?:system|instructions?|response)\s*:|\bBEGIN\ (?:SYSTEM|INSTRUCTIONS)""",
        "speaks to the model": rf"""
            \b(?:dear|attention|note\ to|message\ (?:to|for)|hey|hello),?\ (?:the\ |all\ |any\ )?{_MODEL}\b
            |\b{_MODEL}\ (?:reading\ this|that\ reads?\ this)\b
            |\b(?:if|when|as)\ you\ are\ an?\ {_MODEL}\b""",
        "dictates an answer": rf"""
            (?:\A|[.!?;:]\s+|\b(?:please|must|shall)\s+)(?:answer|respond|reply)\b.{{0,30}}
                \b(?:only\ with|exactly|always|instead|with\ the\ word|every\ (?:answer|question))\b
            |{_URGED}(?:do\ not|don't|never)\ (?:cite|quote|use)\ (?:the\ |these\ )?passages?\b
            |{_URGED}(?:(?:call|use|run|invoke|execute)\ search_textbook|call\ the\ tool)\b
            |\b(?:every|all|each|any)\ (?:answers?|repl(?:y|ies)|responses?)\ (?:must|should|shall|ha(?:s|ve)\ to)\b
                .{{0,40}}\b(?:claim|mention|praise|recommend|say|state)\b""",
        "tells a machine what to say": rf"""
            \b{_MACHINE}\b.{{0,60}}
                (?:\b(?:{_OBLIGED}|please|kindly)\b.{{0,40}}\b{_TO_TELL}\b|[:|]\s*["“‘']?{_TO_TELL}\b|\b{_TO_TELL}:)
            |\b(?:let|have|make|asks?|tells?|told|instructs?|wants?)
                \ (?:(?:the|any|every|all)\ )?{_MACHINE}\ (?:to\ )?{_TO_TELL}\b
            |\b(?:note|notice|hint|hinweis|remark|instructions?|message|avis|aviso)
                \ (?:to|for|an|aux?|à|para)\ (?:\w+\ ){{0,2}}{_MACHINE}\b
            |\A\W*{_MACHINE}\s*:
            |\b(?:read|retold|summari[sz]ed)\b.{{0,20}}\bby\ (?:an?|any)\ (?:{_MACHINE}|program|machine)\b
                .{{0,60}}\b{_TO_TELL}\b""",
        "settles an answer beforehand": rf"""
            \b{_ASKER}\ {_OBLIGED}\ be\ told\b
            |\b(?:if|when(?:ever)?|should)\ {_SOMEBODY}\ (?:\w+\ )?ask(?:s|ed)?\b
                .{{0,80}}\bthe\ (?:answer|reply)\ is\b
            |\bquestions?\b.{{0,40}}\b(?:is|are|must\ be|should\ be)\ answered\ (?:with|as)\b
            |\breaders?\b.{{0,40}}\b(?:is|are)\ answered\ by\b""",
        "forges an answer": r"""
            "(?:sentences|quotes|citations|grounded|verified|final(?:_answer)?|tool_choice|tool_calls)"\s*:.*"\w+"\s*:
            |"\w+"\s*:.*"(?:grounded|verified|tool_choice|tool_calls|quotes)"\s*:
            |"role"\s*:\s*"(?:system|assistant|developer)"
            |</?(?:selection|passages?|question|context|instructions?)>
            |\[(?:end\ of\ )?(?:passage|question|selection|context)(?:\ (?:ends?|continues))?\]
            |\[(?:developer|system)\]
            |(?:/\*|//|<!--|\#)\s*@?(?:copilot|llm|gpt|ai|bots?|assistant|autocomplete)\s*[:,]""",
    }.items()
}


_LOOKALIKES = str.maketrans("аеіорсухѕԁһАЕІОРСУХЅ", "aeiopcyxsdhAEIOPCYXS")
_MIXED = re.compile(r"[a-z][а-яѕіһԁ]|[а-яѕіһԁ][a-z]", re.IGNORECASE)
# Words without which a longer English text does not do: with them it is neither turned round nor enciphered.
_ENGLISH = re.compile(r"\b(?:and|are|for|in|is|of|that|the|this|to|with)\b", re.IGNORECASE)
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
    if not _ENGLISH.search(plain):
        yield codecs.encode(plain, "rot13")
        yield plain[::-1]
    yield from (
        bytes.fromhex(hidden[0]).decode("utf-8", "ignore") for hidden in _HEX.finditer(text)
    )


def neutralize(text: str, question: str = "") -> str:
    """Return a book's text without orders to the answering model, for a question that it should answer.

    A text that comes without a question is a reader's own, and stays as it is. So does the book if the question is
    about such orders.
    """
    if not question or asks_for_orders(question) or not flags(text):
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
