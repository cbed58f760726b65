"""Measures how many corrupted sentences and quotes are caught before they are shown, and how many clean ones are lost.

Usage: .venv/bin/python evals/corruption.py [--json PATH] [--most N] [--seed N]

It corrupts the sample book and, with EVAL_DATA, SQuAD's report articles, RAGTruth's answers and WiCE's claims.
"By rules" treats every sentence that passes the rules as supported, so it shows what the rules catch alone.
"""

# ruff: noqa: E402, T201 - run as a file: it sets the module path first, and prints

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bythebook.ask.verify.sentences import verify
from bythebook.bootstrap import Core
from bythebook.domain.answers import Draft, Fault, Passage, Sentence
from bythebook.ports import Support
from bythebook.settings import Settings
from evals.corruptions.clean import (
    Case,
    load_claims,
    load_model_answers,
    make_book_cases,
    retype_quote,
    trim_sentence,
)
from evals.corruptions.ways import QUOTE_WAYS, SENTENCE_WAYS, Corruption, CorruptionSource
from evals.sets.articles import load_articles

REWORDED_WAYS = ("number changed", "name swapped", "negation added or removed")


class RulesOnly:
    """Treats every sentence as supported, and counts how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    async def support(self, claim: str, passages: Sequence[Passage]) -> float:  # noqa: ARG002
        """Return certainty."""
        self.asked += 1
        return 1.0


@dataclass(slots=True)
class Row:
    """The results of the drafts of one class."""

    name: str
    total: int = 0
    caught: int = 0  # dropped, or shown with its quote corrected
    by_rules: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    quotes: int = 0
    exact: int = 0
    mistakes: list[str] = field(default_factory=list)  # corrupted and shown, or clean and dropped

    def make_report(self) -> dict[str, object]:
        """Return the figures as plain values."""
        shares = {"caught": self.caught, "caught_by_rules": self.by_rules}
        return {
            "class": self.name,
            "sentences": self.total,
            **{name: round(count / max(self.total, 1), 4) for name, count in shares.items()},
            "outcomes": dict(self.outcomes.most_common()),
            "quotes_shown": self.quotes,
            "quotes_exact": self.exact,
        }


async def verify_case(case: Case, support: Support) -> tuple[Sentence | None, list[Fault]]:
    """Verify one draft by the product's code."""

    async def drafts() -> AsyncIterator[Draft]:
        yield case.draft

    events = [one async for one in verify(drafts(), case.passages, support)]
    shown = [one for one in events if isinstance(one, Sentence)]
    return (shown[0] if shown else None), [one for one in events if isinstance(one, Fault)]


async def measure(name: str, cases: Iterable[Case], support: Support) -> Row:
    """Verify all drafts of one class."""
    row = Row(name)
    for case in cases:
        shown, faults = await verify_case(case, support)
        by_rules, rule_faults = await verify_case(case, RulesOnly())
        row.total += 1
        row.caught += shown is None or bool(faults)
        row.by_rules += by_rules is None or bool(rule_faults)
        row.outcomes[faults[0].kind if faults else "shown"] += 1
        citations = shown.citations if shown else ()
        row.quotes += len(citations)
        row.exact += sum(citation.stands for citation in citations)
        if (shown is None or bool(faults)) == name.startswith("clean"):
            row.mistakes.append(f"{case.draft.text} <- {case.draft.quotes[0][1]}")
    return row


def corrupt_cases(
    corrupt: Corruption, cases: Sequence[Case], source: CorruptionSource
) -> Iterator[Case]:
    """Yield the drafts that this corruption changes and makes false."""
    for case in cases:
        worse = corrupt(case, source)
        if worse is not None and worse.draft != case.draft and not _is_true(worse):
            yield worse


def _is_true(case: Case) -> bool:
    """Return True if the book happens to say what was made up."""
    passage, quote = case.draft.quotes[0]
    stands = " ".join(quote.split()) in " ".join(passage.chunk.text.split())
    return stands and case.draft.text in passage.chunk.text


async def measure_book(
    cases: Sequence[Case], foreign: Sequence[Case], support: Support, seed: int
) -> list[Row]:
    """Measure clean and corrupted sentences of books."""
    rows = [
        await measure("clean: verbatim", cases, support),
        await measure("clean: trimmed", filter(None, map(trim_sentence, cases)), support),
        await measure("clean: quote retyped", map(retype_quote, cases), support),
    ]
    for name, corrupt in (*SENTENCE_WAYS.items(), *QUOTE_WAYS.items()):
        source = CorruptionSource(cases, foreign, seed)
        rows.append(await measure(name, corrupt_cases(corrupt, cases, source), support))
    return rows


async def measure_reworded(cases: Sequence[Case], support: Support, seed: int) -> list[Row]:
    """Measure clean and corrupted sentences in other words than the passages'."""
    rows = [await measure("clean: other words", cases, support)]
    for name in REWORDED_WAYS:
        source = CorruptionSource(cases, cases, seed)
        altered = corrupt_cases(SENTENCE_WAYS[name], cases, source)
        rows.append(await measure(name, altered, support))
    return rows


def load_sample_cases(core: Core, most: int, seed: int) -> list[Case]:
    """Load sentences of the sample book."""
    source = core.reader.read(str(ROOT / "examples" / "book"), title=None, base_url=None)
    return make_book_cases("sample", [one.read() for one in source.documents], most, seed)


def load_article_cases(data: Path, most: int, seed: int) -> list[Case]:
    """Load sentences of SQuAD's report articles."""
    articles = load_articles(data / "squad2" / "squad2_report.json")
    return make_book_cases("squad", [article.document for article in articles], most, seed)


async def run(core: Core, support: Support, most: int, seed: int) -> Mapping[str, list[Row]]:
    """Measure the sample book, and the public sets if EVAL_DATA is set."""
    data = os.environ.get("EVAL_DATA")
    sample = load_sample_cases(core, most, seed)
    half = len(sample) // 2
    if data is None:
        print("EVAL_DATA is not set: only the sample book is corrupted.")
        return {"sample book": await measure_book(sample[:half], sample[half:], support, seed)}
    articles = load_article_cases(Path(data), most, seed)
    answers = load_model_answers(Path(data) / "ragtruth" / "ragtruth_qa_public.jsonl", most, seed)
    claims = load_claims(Path(data) / "wice" / "claims_dev.jsonl", most)
    return {
        "sample book": await measure_book(sample, articles, support, seed),
        "SQuAD report articles": await measure_book(articles, sample, support, seed),
        "model answers (RAGTruth)": await measure_reworded(answers, support, seed),
        "claims (WiCE)": await measure_reworded(claims, support, seed),
    }


def print_table(name: str, rows: Sequence[Row], examples: int) -> None:
    """Print one row for each class, with the outcomes of its drafts."""
    print(f"\n{name:<36}{'sentences':>10}{'caught':>9}{'by rules':>10}  outcomes")
    for row in rows:
        share = row.caught / max(row.total, 1), row.by_rules / max(row.total, 1)
        outcomes = ", ".join(f"{kind} {count}" for kind, count in row.outcomes.most_common())
        print(f"{row.name:<36}{row.total:>10}{share[0]:>9.3f}{share[1]:>10.3f}  {outcomes}")
        for text in row.mistakes[:examples]:
            print(f"      {text!r}")


def main() -> None:
    """Corrupt, verify, print and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--most", type=int, default=300, help="sentences of each book")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--examples", type=int, default=0, help="mistakes to show of each class")
    parser.add_argument("--rules-only", action="store_true", help="do without the judge's model")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bythebook-corruption-") as folder:
        core = Core(Settings(data_dir=Path(folder)))
        support: Support = RulesOnly() if options.rules_only else core.ask.support
        tables = asyncio.run(run(core, support, options.most, options.seed))
        core.close()
    for name, rows in tables.items():
        print_table(name, rows, options.examples)
    every = [row for rows in tables.values() for row in rows]
    shown, exact = sum(row.quotes for row in every), sum(row.exact for row in every)
    print(f"\nquotes shown: {shown}, byte-exact: {exact / max(shown, 1):.4f}")
    if options.json:
        report = {name: [row.make_report() for row in rows] for name, rows in tables.items()}
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(report, indent=1, ensure_ascii=False), "utf-8")


if __name__ == "__main__":
    main()
