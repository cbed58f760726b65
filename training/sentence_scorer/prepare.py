"""Make the scorer's examples: `python training/sentence_scorer/prepare.py OUTPUT_FOLDER`.

Reads the training sets below EVAL_DATA and the dev split of evals/sample-book.jsonl (for choosing,
never for training), and writes train, squad_valid, tale_valid and dev as JSON lines:
{"source", "question", "candidates": [{"heading", "text", "label", "cosine", "near", "chunk"}]}.
Runs in the product's environment.
"""

import argparse
import csv
import json
import os
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bythebook.adapters.minilm import MiniLm
from bythebook.adapters.readers.markdown import MarkdownReader
from bythebook.domain.books import Chunk
from bythebook.domain.sentences import split_sentences
from bythebook.evaluate.run import overlaps
from bythebook.ingest.chunk import cut_document

ROOT = Path(__file__).resolve().parents[2]
SEED = 20261115
HELD_OUT_ARTICLES = ("Huguenot", "Packet_switching", "Prime_number")
NEAR, FAR = 5, 5  # negatives kept per question: beside the answer, and like the question
MOST_WORDS = 70  # longer sentences are lists or broken text
CHUNKS = 8
STOP = frozenset(
    """a an the of to in on at for and or but is are was were be been being did do does what who whom
    whose which where when why how that this these those it its he she his her him they them their
    i you we with by from as had has have would could will can not there then because so""".split()
)

Vectors = NDArray[np.float32]


@dataclass(slots=True)
class Candidate:
    """One sentence that may answer a question."""

    heading: str
    text: str
    label: int
    cosine: float
    near: bool  # stands beside the answer
    chunk: float = 0.0  # cosine of the chunk it stands in


@dataclass(frozen=True, slots=True)
class Source:
    """A document as sentences, with the paragraph each stands in and its vectors."""

    name: str
    heading: str
    texts: list[str]
    paragraphs: list[int]


@dataclass(frozen=True, slots=True)
class Ask:
    """A question over a source: where its answer stands, and what must not count as wrong."""

    question: str
    paragraph: int
    gold: frozenset[int]
    unclear: frozenset[int] = frozenset()


Set = list[tuple[Source, list[Ask]]]


def words(text: str) -> set[str]:
    """Return the content words of a text, plural marks dropped."""
    return {w.rstrip("s") for w in re.findall(r"[a-z0-9]+", text.lower()) if w not in STOP}


def read_squad(path: Path, titled: bool) -> Set:
    """Read a set in SQuAD's form; without titles the first line of the text is one."""
    found: Set = []
    for number, article in enumerate(json.loads(path.read_text("utf-8"))["data"]):
        source, asks = Source(f"{path.stem}-{number}", "", [], []), []
        heading = article["title"].replace("_", " ") if titled else ""
        for place, paragraph in enumerate(article["paragraphs"]):
            context = paragraph["context"]
            heading = heading or context.partition("\n")[0][:120]
            first = len(source.texts)
            spans = list(split_sentences(context))
            source.texts.extend(context[a:b] for a, b in spans)
            source.paragraphs.extend([place if titled else i // 8 for i in range(len(spans))])
            for entry in paragraph["qas"]:
                asks.append(_squad_ask(entry, spans, first, source))
        found.append((Source(source.name, heading, source.texts, source.paragraphs), asks))
    return found


def _squad_ask(entry: dict, spans: Sequence[tuple[int, int]], first: int, source: Source) -> Ask:  # type: ignore[type-arg]
    gold, unclear = set(), set()
    for answer in [] if entry.get("is_impossible") else entry["answers"]:
        text, start = answer["text"].strip(), answer["answer_start"]
        middle = start + len(answer["text"]) // 2
        gold.update(first + i for i, (a, b) in enumerate(spans) if a <= middle < b)
        for i in range(first, first + len(spans)):
            if text.lower() in source.texts[i].lower():
                unclear.add(i)
    place = min(gold) if gold else first
    return Ask(entry["question"].strip(), source.paragraphs[place], frozenset(gold), frozenset(unclear - gold))


def tidy(text: str) -> str:
    """Put the spaces of tokenised text back where a writer leaves them."""
    text = re.sub(r"\s+([.,;:!?'])", r"\1", text)
    text = re.sub(r"\s+(n't|'s)\b", r"\1", text)
    return re.sub(r"\s+", " ", text.replace(" - ", "-")).strip()


def read_tales(path: Path, encoder: MiniLm) -> Set:
    """Read the story questions, each with the sentence that best holds its answer."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["local_or_sum"] == "local"]
    found: Set = []
    for story in sorted({row["story_name"] for row in rows}):
        mine = [row for row in rows if row["story_name"] == story]
        source = Source(story, story.replace("-", " "), [], [])
        sections = {text: i for i, text in enumerate(dict.fromkeys(row["content"] for row in mine))}
        for text, place in sections.items():
            parts = [tidy(part) for part in re.split(r"(?<=[.!?])\s+(?=\w)", text)]
            source.texts.extend(part for part in parts if part)
            source.paragraphs.extend(place for part in parts if part)
        asks = [_tale_ask(row, sections[row["content"]], source, encoder) for row in mine]
        found.append((source, [ask for ask in asks if ask]))
    return found


def _tale_ask(row: dict[str, str], place: int, source: Source, encoder: MiniLm) -> Ask | None:
    """Find the sentence that holds the answer: most of its words, and nearest to the question."""
    question, answer = tidy(row["question"]), tidy(row["answer1"])
    wanted, asked = words(answer), words(question)
    inside = [i for i, p in enumerate(source.paragraphs) if p == place]
    if not wanted or not inside:
        return None
    shares = {i: len(wanted & words(source.texts[i])) / len(wanted) for i in inside}
    scores = {
        i: share + 0.4 * len(asked & words(source.texts[i])) / max(len(asked), 1)
        for i, share in shares.items()
    }
    best = max(inside, key=lambda i: scores[i])
    rivals = [i for i in inside if i != best and scores[i] > scores[best] - 0.1]
    if shares[best] < 0.6 or (rivals and len(wanted) < 2):
        return None
    unclear = frozenset(i for i in inside if i != best and shares[i] >= 0.34)
    return Ask(question, place, frozenset({best}), unclear)


def to_examples(kind: str, entries: Set, encoder: MiniLm, every: bool) -> Iterator[dict[str, object]]:
    """Turn questions into lists of candidates; `every` keeps all sentences like the question."""
    chance = random.Random(SEED)
    for source, asks in entries:
        if not asks:
            continue
        known = encoder.encode([f"{source.heading}. {text}" for text in source.texts])
        asked = encoder.encode([ask.question for ask in asks])
        for ask, cosines in zip(asks, asked @ known.T, strict=True):
            chosen = _all_like(source, ask, cosines) if every else _sample(source, ask, cosines, chance)
            candidates = [
                asdict(Candidate(source.heading, source.texts[i], int(i in ask.gold), round(float(cosines[i]), 4),
                                 source.paragraphs[i] == ask.paragraph))
                for i in chosen
            ]
            yield {"source": kind, "question": ask.question, "candidates": candidates}


def _usable(source: Source, ask: Ask) -> list[int]:
    return [
        i
        for i, text in enumerate(source.texts)
        if i not in ask.unclear and i not in ask.gold and 3 <= len(text.split()) <= MOST_WORDS
    ]


def _sample(source: Source, ask: Ask, cosines: Vectors, chance: random.Random) -> list[int]:
    """Choose training candidates: the gold, sentences beside it, and the most alike elsewhere."""
    usable = _usable(source, ask)
    near = [i for i in usable if source.paragraphs[i] == ask.paragraph]
    near = sorted(near, key=lambda i: -cosines[i])[:NEAR]
    alike = sorted((i for i in usable if i not in near), key=lambda i: -cosines[i])[:12]
    return [*sorted(ask.gold), *near, *chance.sample(alike, min(FAR, len(alike)))]


def _all_like(source: Source, ask: Ask, cosines: Vectors) -> list[int]:
    """Choose validation candidates: the whole paragraph and the most alike of the document."""
    usable = _usable(source, ask)
    near = [i for i in usable if source.paragraphs[i] == ask.paragraph]
    alike = sorted((i for i in usable if i not in near), key=lambda i: -cosines[i])
    return [*sorted(ask.gold), *near, *alike[: max(0, 20 - len(near))]]


def read_chunks(folder: Path, encoder: MiniLm) -> list[Chunk]:
    """Cut the pages of a Markdown book as the product does."""
    documents = list(MarkdownReader().read(folder, title=None, base_url=None).documents)
    return [c for d in documents for c in cut_document("book", d, encoder.count_tokens)]


def dev_examples(encoder: MiniLm) -> Iterator[dict[str, object]]:
    """Give the dev questions of the sample book with the units of the chunks most like them."""
    chunks = read_chunks(ROOT / "examples" / "book", encoder)
    vectors = encoder.encode([chunk.context for chunk in chunks])
    units = [[chunk.text[u.start : u.end] for u in chunk.units] for chunk in chunks]
    known = [encoder.encode([f"{c.section}. {t}" for t in u]) for c, u in zip(chunks, units, strict=True)]
    for line in (ROOT / "evals" / "sample-book.jsonl").read_text("utf-8").splitlines():
        entry = json.loads(line)
        if entry["split"] != "dev":
            continue
        asked = encoder.encode([entry["question"]])[0]
        scores = vectors @ asked
        gold = entry.get("quote") or ""
        candidates = [
            asdict(Candidate(chunks[c].section or "", text, int(bool(gold) and overlaps(text, gold)),
                             round(float(cosine), 4), False, round(float(scores[c]), 4)))
            for c in np.argsort(-scores)[:CHUNKS]
            for text, cosine in zip(units[c], known[c] @ asked, strict=True)
        ]
        yield {"source": entry["kind"], "question": entry["question"], "candidates": candidates,
               "reworded": bool(entry.get("reworded"))}


def write(path: Path, examples: Sequence[dict[str, object]]) -> None:
    """Write examples as JSON lines."""
    path.write_text("".join(json.dumps(e, ensure_ascii=False) + "\n" for e in examples), "utf-8")
    print(path.name, len(examples), flush=True)


def prepare(data: Path, output: Path) -> None:
    """Write the four files."""
    encoder, chance = MiniLm(), random.Random(SEED)
    write(output / "dev.jsonl", list(dev_examples(encoder)))
    held = {f"squad2_train-{i}" for i, a in enumerate(json.loads(
        (data / "squad2/squad2_train.json").read_text("utf-8"))["data"]) if a["title"] in HELD_OUT_ARTICLES}
    squad = read_squad(data / "squad2/squad2_train.json", True)
    others = read_squad(data / "squad2/squad1_other_articles.json", True)
    covid = read_squad(data / "covidqa/covidqa.json", False)
    tales = read_tales(data / "fairytaleqa/train.csv", encoder)
    chance.shuffle(tales)
    cut = len(tales) // 10
    write(output / "squad_valid.jsonl", list(to_examples("squad", [e for e in squad if e[0].name in held], encoder, True)))
    write(output / "tale_valid.jsonl", list(to_examples("tale", tales[:cut], encoder, True)))
    train = list(to_examples("squad", [e for e in squad if e[0].name not in held] + others, encoder, False))
    train += to_examples("tale", tales[cut:], encoder, False)
    train += to_examples("covid", covid, encoder, False)
    write(output / "train.jsonl", train)


def main() -> None:
    """Read the command line and prepare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path)
    output = parser.parse_args().output
    output.mkdir(parents=True, exist_ok=True)
    prepare(Path(os.environ["EVAL_DATA"]), output)


if __name__ == "__main__":
    main()
