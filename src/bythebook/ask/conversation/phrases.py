"""Text -> the noun phrases in it, by lists of closed-class words, shape and position."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

ARTICLES = frozenset("a an the".split())
PRONOUNS = frozenset(
    """i me my mine we us our ours you your yours he him his she her hers it its they them their theirs
    himself herself itself themselves myself yourself this that these those one ones someone somebody
    something anyone anybody anything everyone everybody everything nothing none nobody there here""".split()
)
ASKING = frozenset("what which who whom whose when where why how what's who's how's".split())
DOING = frozenset(
    """do does did can could will would shall should may might must don't doesn't didn't can't cannot
    couldn't won't wouldn't shouldn't mustn't""".split()
)
BEING = frozenset(
    """is are was were be been being am isn't aren't wasn't weren't has have had having hasn't haven't
    hadn't become becomes became get gets got gotten""".split()
)
PREPOSITIONS = frozenset(
    """of in on at to for from by with without about into onto over under between among through during
    before after since until against within across behind beyond near per via like as than upon toward
    towards around above below inside outside besides despite regarding versus vs using including along
    off up down out aside""".split()
)
JOINING = frozenset(
    """and or but nor so yet if because although though while whereas whether unless that which who when
    where then also etc""".split()
)
OTHERS = frozenset(
    """not no yes any some all both each every either neither many much more most few fewer less least
    several other another such same own enough too very just only even still already again ever never
    always often sometimes usually now today once twice first next last later else instead rather quite
    really well please due ok okay hi hello thanks thank sure actually maybe perhaps away back together
    long far ago soon early late alone apart almost mostly mainly two three four five six seven eight
    nine ten different new main certain various whole particular important special notable interesting
    exactly""".split()
)
ADJECTIVES = frozenset(
    """able accurate available bad better best big bigger cheap cheaper clear close common complex
    correct dangerous difficult easy easier efficient equal exact expensive famous fast faster fine free
    full good great hard harder hot heavy high higher huge ideal known large larger likely long longer
    low lower necessary needed normal old older open optional popular possible precise public quick rare
    ready real reliable required responsible right robust safe secure short significant similar simple
    slow slower small smaller stable strong successful suitable sure true typical unique unusual useful
    valid weak wrong worth worse worst young stronger weaker interested involved related alive dead
    married happy proud""".split()
)
PEOPLE = frozenset(
    """actor actress artist author boy brother daughter duke husband lord sister son wife captain coach
    composer director doctor emperor engineer father founder girl inventor king leader man manager mother
    musician philosopher physicist player poet president prince princess professor queen scientist singer
    teacher woman writer""".split()
)
CLOSED = ARTICLES | PRONOUNS | ASKING | DOING | BEING | PREPOSITIONS | JOINING
BASE_VERBS = frozenset(
    """accept achieve act add affect aim allow announce appear apply argue arrive ask assist attack
    attempt attend avoid base begin believe belong break bring build call carry cause change check choose
    claim collect combine come communicate compare compute connect consider consist contain continue
    control cope correct cost count cover create deal decide define depend deploy describe design detect
    determine develop die differ discover do drive earn enable end enjoy ensure enter estimate evolve
    execute exist expect explain face fail fall feel fight find finish fit follow force form function
    gain generate give go grow handle happen hear help hold implement improve include increase inspire
    install interact introduce invent involve join keep kill know lead learn leave let lie like limit
    listen live locate look lose love make manage mark marry matter mean measure meet mention mind miss
    move name need notice obtain occur offer open operate originate participate pay perform place plan
    play prefer prevent process produce prove provide publish put reach react read receive recommend
    record reduce refer regulate relate release remain remember remove replace reply represent require
    respond rest result return run say score see seem sell send serve set share show sign sing sit solve
    sound speak spend stand start state stay stop store struggle study succeed suffer suggest support
    survive take talk teach tell tend test think tour train transform translate travel treat try turn
    understand update use vary wait walk want watch wear win wish work worry write split graduate direct
    switch fly calibrate navigate localize localise simulate subscribe compile render draw eat sleep
    drink swim raise buy cut""".split()
)
_PAST = frozenset(
    """began broke brought built came chose did drove dealt died fell felt fought found gave went grew
    heard held kept knew led learned left lay lost loved made meant met paid played put ran read said saw
    sold sent sang sat spoke spent stood took taught told thought understood wore won wrote written done
    gone seen taken given known called used born drawn driven shown chosen broken spoken sung hit""".split()
)
MODIFIERS = frozenset(
    "first second third next last new main different various whole other same most best two three four".split()
)
_COUNTABLE = frozenset("topics metrics graphics basics critics comics characteristics".split())
_MONTHS = frozenset(
    "january february march april may june july august september october november december".split()
)
_WORD = re.compile(r"[A-Z]\.(?=\s?[A-Z])|[^\W_]+(?:[-'’./+&_@:][^\W_]+)*(?:\+\+|#)?|\S")
_MADE_VERB = re.compile(r"[a-z]{3,}(?:ate|ize|ise|ify)$")
_IN_NAMES = ("of", "&", "the")
_LONGEST = 8  # words; longer runs are mostly not one phrase

Kind = Literal["name", "person", "thing"]


@dataclass(frozen=True, slots=True)
class Word:
    """A word or mark, and where it stands."""

    text: str
    lower: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Phrase:
    """A noun phrase as written, and what it agrees with."""

    text: str
    start: int
    end: int
    bare: str  # without its article
    head: str
    plural: bool
    kind: Kind
    after: str  # the word before it, in lower case

    @property
    def key(self) -> str:
        """Give what equals for the same phrase elsewhere."""
        return self.bare.lower()


def words_of(text: str) -> list[Word]:
    """Split a text into words and marks."""
    return [
        Word(found[0], found[0].lower().replace("’", "'"), found.start(), found.end())
        for found in _WORD.finditer(text)
    ]


def is_plural(noun: str) -> bool:
    """Tell whether a noun looks like more than one."""
    if noun in {"people", "men", "women", "children", "criteria", "data", "media"}:
        return True
    if noun.endswith("ics"):
        return noun in _COUNTABLE
    return len(noun) > 3 and noun.endswith("s") and not noun.endswith(("ss", "us", "is", "'s"))


def noun_phrases(text: str) -> list[Phrase]:
    """Give the noun phrases in reading order; joined ones ("A and B") after their parts."""
    words = words_of(text)
    before = dict(zip((word.start for word in words[1:]), words, strict=False))
    runs = [kept for run in _runs(words) if (kept := _trimmed(run))]
    phrases = [_phrase(text, run, before.get(run[0].start)) for run in runs]
    return [*phrases, *_joined(text, phrases)]


def _runs(words: Sequence[Word]) -> Iterator[list[Word]]:
    """Cut the words into runs that hold no verb, mark or closed-class word."""
    run: list[Word] = []
    clause = _Clause()
    for place, word in enumerate(words):
        modifies = word.lower in MODIFIERS and run != [] and run[-1].lower in ARTICLES
        if modifies or _bridges(words, place, run):
            run.append(word)
            continue
        is_name = word.lower in MODIFIERS and any(map(_is_title, words[1:2]))  # "New York"
        at_start = place == 0 and not is_name
        if word.lower in ARTICLES or _is_closed(word, at_start=at_start):
            yield run
            run = [word] if word.lower in ARTICLES else []
            clause.see(word)
        elif clause.is_verb(word, run):
            yield run
            run = []
            clause.waits = "nothing"
        else:
            run.append(word)
            if word.lower.endswith("'s"):
                yield run  # an owner is a phrase by itself too
                run = list(run)
    yield run


class _Clause:
    """What kind of verb the clause that is being read still waits for."""

    def __init__(self) -> None:
        self.waits: Literal["finite", "base", "participle", "nothing"] = "finite"
        self._after_to = False
        self._subject = False

    def see(self, word: Word) -> None:
        """Take note of a closed-class word."""
        self._after_to = word.lower == "to"
        self._subject = self._subject or word.lower in PRONOUNS
        if word.lower in DOING:
            self.waits = "base"
        elif word.lower in BEING:
            self.waits = "participle"
        elif word.lower in JOINING or word.lower in ",;:.?!" or word.lower in ASKING:
            self.waits, self._subject = "finite", word.lower in {"who", "that", "which", "what"}

    def is_verb(self, word: Word, run: Sequence[Word]) -> bool:
        """Tell whether a word is the verb of this clause rather than part of a noun phrase."""
        lower = word.lower
        after_to, self._after_to = self._after_to, False
        if word.text != lower:
            return False
        if not run:
            if self.waits == "finite" and self._subject:
                return _is_past(lower) or lower in BASE_VERBS or _is_third_person(lower)
            base = after_to or (self.waits == "base" and self._subject)
            return base and (lower in BASE_VERBS or bool(_MADE_VERB.match(lower)))
        self._subject = True
        if run[-1].lower in ARTICLES:
            return False
        if _is_past(lower) or self.waits == "base":
            return _is_past(lower) or lower in BASE_VERBS or bool(_MADE_VERB.match(lower))
        fits = lower in BASE_VERBS if is_plural(run[-1].lower) else _is_third_person(lower)
        return fits and self.waits == "finite"


def _is_past(lower: str) -> bool:
    return lower in _PAST or (lower.endswith("ed") and len(lower) > 4)


def _is_third_person(lower: str) -> bool:
    return lower.endswith("s") and (lower[:-1] in BASE_VERBS or lower[:-2] in BASE_VERBS)


def _is_closed(word: Word, *, at_start: bool) -> bool:
    lower = word.lower
    if not lower[0].isalnum() or lower in CLOSED or lower.partition("'")[0] in PRONOUNS | ASKING:
        return True
    if _is_title(word) and not at_start:
        return False
    is_adverb = lower.endswith("ly") and len(lower) > 4
    return is_adverb or lower in OTHERS or (at_start and lower in BASE_VERBS)


def _bridges(words: Sequence[Word], place: int, run: Sequence[Word]) -> bool:
    """Tell whether a small word stands inside a name: "Lord of the Rings", "Tom & Jerry"."""
    if not run or not _is_title(run[-1]) or words[place].lower not in _IN_NAMES:
        return run != [] and run[-1].lower == "of" and words[place].lower in ARTICLES
    following = [word for word in words[place + 1 : place + 3] if word.lower not in ARTICLES]
    return bool(following) and _is_title(following[0])


def _trimmed(run: Sequence[Word]) -> list[Word]:
    """Take off what a noun phrase cannot begin or end with."""
    kept = list(run[-_LONGEST:])
    while kept and (
        kept[-1].lower in ADJECTIVES | ARTICLES | OTHERS | PREPOSITIONS
        or (kept[-1].lower in BASE_VERBS and len(kept) == 1)
    ):
        kept.pop()
    is_noun = len(kept) != 1 or not (kept[0].lower.isdigit() or _is_past(kept[0].text))
    return kept if is_noun else []


def _phrase(text: str, run: Sequence[Word], before: Word | None) -> Phrase:
    bare = [word for word in run if word.lower not in ARTICLES] or list(run)
    head = bare[-1].lower.removesuffix("'s")
    end = run[-1].end - (2 if head != bare[-1].lower else 0)
    shown = text[run[0].start : end]
    if before is None and run[0].lower in ARTICLES and len(run) > 1:
        shown = shown[0].lower() + shown[1:]
    kind = _kind(bare, head)
    is_one = kind == "name" and run[0].lower != "the" and (before is not None or len(run) > 1)
    after, named = before.lower if before else "", text[bare[0].start : end]
    return Phrase(
        shown, run[0].start, end, named, head, is_plural(head) and not is_one, kind, after
    )


def _kind(bare: Sequence[Word], head: str) -> Kind:
    if head in PEOPLE:
        return "person"
    if any(word.lower in _MONTHS for word in bare):
        return "thing"
    is_name = all(_is_title(word) or word.lower in _IN_NAMES for word in bare)
    return "name" if is_name and _is_title(bare[0]) else "thing"


def _is_title(word: Word) -> bool:
    return word.text[0].isupper() or (word.text[0].isdigit() and word.text[-1:].isdigit())


def _joined(text: str, phrases: Sequence[Phrase]) -> Iterator[Phrase]:
    for left, right in pairwise(phrases):
        between = text[left.end : right.start].strip().lower()
        if between in {"and", "&"} and right.end - left.start < 80:
            kind: Kind = "name" if left.kind == right.kind == "name" else "thing"
            shown = text[left.start : right.end]
            bare = text[left.end - len(left.bare) : right.end]
            head, end = right.head, right.end
            yield replace(left, text=shown, end=end, bare=bare, head=head, plural=True, kind=kind)
