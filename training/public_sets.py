"""The public training sets below EVAL_DATA as examples; never the ones that are reported."""

import csv
import json
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from training.examples import Example, Task, plain, sentences, units_of_span

SEED = 20261116
WINDOW_WORDS = 130  # of a long article's passages
_WORD = re.compile(r"\w+")
_QUESTION: Final[Task] = "question"
_CLAIM: Final[Task] = "claim"
_SPACE_BEFORE = re.compile(r" (?=[.,;:!?)'’])")
_FIGURE = re.compile(r"\b\d[\d,.]*\b")
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+(?: [A-Z][a-z]+)*")


def squad(data: Path) -> Iterator[Example]:
    """Questions over their own paragraph: answered ones, and look-alikes where the set has them."""
    for name in ("squad2_train", "squad1_other_articles"):
        for article in json.loads((data / "squad2" / f"{name}.json").read_text("utf-8"))["data"]:
            for paragraph in article["paragraphs"]:
                yield from _squad_paragraph(article["title"], paragraph)


def _squad_paragraph(title: str, paragraph: dict[str, Any]) -> Iterator[Example]:
    text = paragraph["context"].replace("\n", " ")
    units = sentences(text)
    for asked in paragraph["qas"]:
        answers = [] if asked.get("is_impossible") else asked["answers"]
        spans = [(a["answer_start"], a["answer_start"] + len(a["text"])) for a in answers]
        evidence = sorted({unit for span in spans[:1] for unit in units_of_span(units, span)})
        yield Example(
            "squad",
            f"squad {title}",
            "question",
            asked["question"].strip(),
            title.replace("_", " "),
            text,
            units,
            bool(spans),
            tuple(evidence),
            spans[0] if spans else None,
            "" if spans else "look-alike",
        )


def tales(data: Path) -> Iterator[Example]:
    """Questions over sections of stories, and over another section of the same story."""
    chooser = random.Random(SEED)
    with (data / "fairytaleqa" / "train.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    sections: dict[str, list[str]] = {}
    for row in rows:
        known = sections.setdefault(row["story_name"], [])
        if row["content"] not in known:
            known.append(row["content"])
    for row in rows:
        story, text = row["story_name"], row["content"]
        units = sentences(text)
        base = (
            "tales",
            f"tales {story}",
            _QUESTION,
            row["question"].strip(),
            story.replace("-", " "),
        )
        evidence = _evidence(text, units, row["answer1"]) if row["ex_or_im"] == "explicit" else ()
        yield Example(*base, text, units, holds=True, evidence=evidence)
        others = [s for s in sections[story] if s != text and not _mentions(s, row["answer1"])]
        if others and chooser.random() < 0.5:
            other = max(
                chooser.sample(others, min(4, len(others))),
                key=lambda s: _count_shared(s, row["question"]),
            )
            yield Example(*base, other, sentences(other), holds=False, kind="retrieved")


def _evidence(text: str, units: Sequence[tuple[int, int]], answer: str) -> tuple[int, ...]:
    """Find the one sentence that says an answer in its words; none where that is in doubt."""
    wanted = set(_WORD.findall(answer.lower()))
    shares = [
        len(wanted & set(_WORD.findall(text[s:e].lower()))) / max(len(wanted), 1) for s, e in units
    ]
    best = max(range(len(units)), key=shares.__getitem__, default=0)
    return (best,) if shares and shares[best] >= 0.8 else ()


def _mentions(text: str, answer: str) -> bool:
    return plain(answer).rstrip(" .") in plain(text)


def _count_shared(text: str, question: str) -> int:
    return len(set(_WORD.findall(text.lower())) & set(_WORD.findall(question.lower())))


def covid(data: Path) -> Iterator[Example]:
    """Questions over the part of a scientific article that answers, and over another part of it."""
    chooser = random.Random(SEED)
    for entry in json.loads((data / "covidqa" / "covidqa.json").read_text("utf-8"))["data"]:
        for paragraph in entry["paragraphs"]:
            text = paragraph["context"]
            windows = list(_windows(text))
            title = text.strip().split("\n")[0][:120]
            for asked in paragraph["qas"]:
                for answer in asked["answers"][:1]:
                    span = (answer["answer_start"], answer["answer_start"] + len(answer["text"]))
                    yield from _covid_pair(title, text, windows, asked["question"], span, chooser)


def _covid_pair(
    title: str,
    text: str,
    windows: Sequence[tuple[int, int]],
    question: str,
    span: tuple[int, int],
    chooser: random.Random,
) -> Iterator[Example]:
    holding = [w for w in windows if w[0] <= span[0] and span[1] <= w[1]]
    base = ("covid", f"covid {title}", _QUESTION, question.strip(), title)
    for start, end in holding[:1]:
        part = text[start:end]
        units = sentences(part)
        inside = (span[0] - start, span[1] - start)
        yield Example(
            *base, part, units, holds=True, evidence=units_of_span(units, inside), span=inside
        )
    answer = text[slice(*span)]
    others = [w for w in windows if w not in holding and not _mentions(text[slice(*w)], answer)]
    if others:
        sample = chooser.sample(others, min(8, len(others)))
        start, end = max(sample, key=lambda w: _count_shared(text[slice(*w)], question))
        yield Example(
            *base, text[start:end], sentences(text[start:end]), holds=False, kind="retrieved"
        )


def _windows(text: str) -> Iterator[tuple[int, int]]:
    """Cut a long text into runs of sentences."""
    start, words = 0, 0
    end = 0
    for begin, end in sentences(text):
        words += len(text[begin:end].split())
        if words >= WINDOW_WORDS:
            yield start, end
            start, words = end, 0
    if words:
        yield start, end


def wice(data: Path) -> Iterator[Example]:
    """Claims with words that their evidence does not support, and the same without those words."""
    with (data / "wice" / "unsupported_tokens_train.jsonl").open(encoding="utf-8") as file:
        for line in file:
            value = json.loads(line)
            needed = sorted({n for group in value["supporting_sentences"][:1] for n in group})
            if needed:
                low, high = max(needed[0] - 2, 0), needed[-1] + 3
                kept = [n for n in range(low, high) if n < len(value["evidence"])]
                kept = kept if len(kept) <= 10 else needed
                passage, units = _join_units([value["evidence"][n] for n in kept])
                evidence = tuple(kept.index(n) for n in needed)
                group = f"wice {value['meta'].get('id', value['claim'])}"
                yield Example(
                    "wice", group, "claim", value["claim"], "", passage, units, holds=False
                )
                words = zip(value["claim_tokens"], value["non_supported_spans"], strict=True)
                kept_words = [word for word, unsupported in words if not unsupported]
                if len(kept_words) >= 0.6 * len(value["claim_tokens"]):
                    claim = _SPACE_BEFORE.sub("", " ".join(kept_words))
                    yield Example(
                        "wice",
                        group,
                        "claim",
                        claim,
                        "",
                        passage,
                        units,
                        holds=True,
                        evidence=evidence,
                    )


def _join_units(parts: Sequence[str]) -> tuple[str, tuple[tuple[int, int], ...]]:
    text, units = "", []
    for part in parts:
        text += " " if text else ""
        units.append((len(text), len(text) + len(part)))
        text += part
    return text, tuple(units)


def sentences_as_claims(examples: Sequence[Example]) -> Iterator[Example]:
    """Claim what a passage says: as it stands, with a figure or name changed, and with the sentence taken away."""
    chooser = random.Random(SEED)
    seen: set[str] = set()
    for example in examples:
        if example.passage in seen or len(example.units) < 3:
            continue
        seen.add(example.passage)
        place = chooser.randrange(len(example.units))
        start, end = example.units[place]
        said = example.passage[start:end].strip()
        if not 6 <= len(said.split()) <= 45:
            continue
        base = ("claims", example.group, _CLAIM)
        rest = (example.head, example.passage, example.units)
        kind = chooser.random()
        if kind < 0.34:
            yield Example(*base, said, *rest, holds=True, evidence=(place,))
        elif kind < 0.67:
            left = [example.passage[s:e] for n, (s, e) in enumerate(example.units) if n != place]
            yield Example(
                *base, said, example.head, *_join_units(left), holds=False, kind="taken away"
            )
        elif changed := _change_fact(said, example.passage, chooser):
            yield Example(*base, changed, *rest, holds=False, kind="changed")


def _change_fact(said: str, passage: str, chooser: random.Random) -> str | None:
    """Put another figure or name of the passage, or a made-up figure, where one stands."""
    for pattern in chooser.sample((_FIGURE, _NAME), 2):
        here = list(pattern.finditer(said))
        if here:
            spot = chooser.choice(here)
            others = sorted(
                {m.group() for m in pattern.finditer(passage)} - {m.group() for m in here}
            )
            if not others and pattern is _FIGURE:
                others = [str(chooser.randrange(2, 2030))]
            if others:
                return said[: spot.start()] + chooser.choice(others) + said[spot.end() :]
    return None
