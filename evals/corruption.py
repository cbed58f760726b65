"""How many spoilt sentences and quotes are caught before they are shown, and how many clean ones are lost.

Usage: .venv/bin/python evals/corruption.py [--json PATH] [--most N] [--seed N]

The sample book is spoilt always; with EVAL_DATA, SQuAD's report articles, RAGTruth's answers and WiCE's claims too.
"By rules" takes every sentence that the rules let pass to be borne out, so that it shows what they catch alone.
"""

# ruff: noqa: E402, T201 - run as a file, it looks for modules first, and prints

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
from bythebook.evaluate.sets import load_articles
from bythebook.ports import Support
from bythebook.settings import Settings
from evals.corruptions.clean import Case, book_cases, claims, model_answers, retyped, trimmed
from evals.corruptions.ways import QUOTE_WAYS, SENTENCE_WAYS, Spoil, Spoiler

REWORDED_WAYS = ("number changed", "name swapped", "negation added or removed")


class RulesAlone:
    """Takes every sentence to be borne out, and counts how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    async def support(self, claim: str, passages: Sequence[Passage]) -> float:  # noqa: ARG002
        """Give certainty."""
        self.asked += 1
        return 1.0


@dataclass(slots=True)
class Row:
    """What became of the drafts of one class."""

    name: str
    total: int = 0
    caught: int = 0  # dropped, or shown with its quote put right
    by_rules: int = 0
    told: Counter[str] = field(default_factory=Counter)
    quotes: int = 0
    exact: int = 0
    passed: list[str] = field(default_factory=list)  # or lost, where they are clean

    def report(self) -> dict[str, object]:
        """Give the figures."""
        shares = {"caught": self.caught, "caught_by_rules": self.by_rules}
        return {
            "class": self.name,
            "sentences": self.total,
            **{name: round(count / max(self.total, 1), 4) for name, count in shares.items()},
            "told_as": dict(self.told.most_common()),
            "quotes_shown": self.quotes,
            "quotes_exact": self.exact,
        }


async def check(case: Case, support: Support) -> tuple[Sentence | None, list[Fault]]:
    """Verify one draft by the product's own code."""

    async def drafts() -> AsyncIterator[Draft]:
        yield case.draft

    told = [one async for one in verify(drafts(), case.passages, support)]
    shown = [one for one in told if isinstance(one, Sentence)]
    return (shown[0] if shown else None), [one for one in told if isinstance(one, Fault)]


async def measure(name: str, cases: Iterable[Case], support: Support) -> Row:
    """Verify all drafts of one class."""
    row = Row(name)
    for case in cases:
        shown, faults = await check(case, support)
        by_rules, rule_faults = await check(case, RulesAlone())
        row.total += 1
        row.caught += shown is None or bool(faults)
        row.by_rules += by_rules is None or bool(rule_faults)
        row.told[faults[0].kind if faults else "shown"] += 1
        citations = shown.citations if shown else ()
        row.quotes += len(citations)
        row.exact += sum(citation.stands for citation in citations)
        if (shown is None or bool(faults)) == name.startswith("clean"):
            row.passed.append(f"{case.draft.text} <- {case.draft.quotes[0][1]}")
    return row


def spoilt(way: Spoil, cases: Sequence[Case], spoiler: Spoiler) -> Iterator[Case]:
    """Give the drafts that could be spoilt so, as far as that changed them."""
    for case in cases:
        worse = way(case, spoiler)
        if worse is not None and worse.draft != case.draft and not _is_true(worse):
            yield worse


def _is_true(case: Case) -> bool:
    """Say whether the book happens to say what was made up."""
    passage, quote = case.draft.quotes[0]
    stands = " ".join(quote.split()) in " ".join(passage.chunk.text.split())
    return stands and case.draft.text in passage.chunk.text


async def book_rows(
    cases: Sequence[Case], foreign: Sequence[Case], support: Support, seed: int
) -> list[Row]:
    """Measure clean and spoilt sentences of books."""
    rows = [
        await measure("clean: verbatim", cases, support),
        await measure("clean: trimmed", filter(None, map(trimmed, cases)), support),
        await measure("clean: quote retyped", map(retyped, cases), support),
    ]
    for name, way in (*SENTENCE_WAYS.items(), *QUOTE_WAYS.items()):
        spoiler = Spoiler(cases, foreign, seed)
        rows.append(await measure(name, spoilt(way, cases, spoiler), support))
    return rows


async def reworded_rows(cases: Sequence[Case], support: Support, seed: int) -> list[Row]:
    """Measure clean and spoilt sentences in other words than the passages'."""
    rows = [await measure("clean: other words", cases, support)]
    for name in REWORDED_WAYS:
        spoiler = Spoiler(cases, cases, seed)
        altered = spoilt(SENTENCE_WAYS[name], cases, spoiler)
        rows.append(await measure(name, altered, support))
    return rows


def sample_cases(core: Core, most: int, seed: int) -> list[Case]:
    """Give sentences of the sample book."""
    source = core.reader.read(str(ROOT / "examples" / "book"), title=None, base_url=None)
    return book_cases("sample", [one.read() for one in source.documents], most, seed)


def article_cases(data: Path, most: int, seed: int) -> list[Case]:
    """Give sentences of SQuAD's report articles."""
    articles = load_articles(data / "squad2" / "squad2_report.json")
    return book_cases("squad", [article.document for article in articles], most, seed)


async def run(core: Core, support: Support, most: int, seed: int) -> Mapping[str, list[Row]]:
    """Measure whatever is at hand."""
    data = os.environ.get("EVAL_DATA")
    sample = sample_cases(core, most, seed)
    half = len(sample) // 2
    if data is None:
        print("EVAL_DATA is not set: only the sample book is spoilt.")
        return {"sample book": await book_rows(sample[:half], sample[half:], support, seed)}
    articles = article_cases(Path(data), most, seed)
    told = model_answers(Path(data) / "ragtruth" / "ragtruth_qa_public.jsonl", most, seed)
    claimed = claims(Path(data) / "wice" / "claims_dev.jsonl", most)
    return {
        "sample book": await book_rows(sample, articles, support, seed),
        "SQuAD report articles": await book_rows(articles, sample, support, seed),
        "model answers (RAGTruth)": await reworded_rows(told, support, seed),
        "claims (WiCE)": await reworded_rows(claimed, support, seed),
    }


def print_table(name: str, rows: Sequence[Row], examples: int) -> None:
    """Print one line a class, with what its drafts were told to be."""
    print(f"\n{name:<36}{'sentences':>10}{'caught':>9}{'by rules':>10}  told as")
    for row in rows:
        share = row.caught / max(row.total, 1), row.by_rules / max(row.total, 1)
        told = ", ".join(f"{kind} {count}" for kind, count in row.told.most_common())
        print(f"{row.name:<36}{row.total:>10}{share[0]:>9.3f}{share[1]:>10.3f}  {told}")
        for text in row.passed[:examples]:
            print(f"      {text!r}")


def main() -> None:
    """Spoil, verify, print and keep the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--most", type=int, default=300, help="sentences of each book")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--examples", type=int, default=0, help="wrong verdicts to show a class")
    parser.add_argument("--rules-only", action="store_true", help="do without the judge's model")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bythebook-corruption-") as folder:
        core = Core(Settings(data_dir=Path(folder)))
        support: Support = RulesAlone() if options.rules_only else core.ask.support
        tables = asyncio.run(run(core, support, options.most, options.seed))
        core.close()
    for name, rows in tables.items():
        print_table(name, rows, options.examples)
    every = [row for rows in tables.values() for row in rows]
    shown, exact = sum(row.quotes for row in every), sum(row.exact for row in every)
    print(f"\nquotes shown: {shown}, byte-exact: {exact / max(shown, 1):.4f}")
    if options.json:
        report = {name: [row.report() for row in rows] for name, rows in tables.items()}
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(report, indent=1, ensure_ascii=False), "utf-8")


if __name__ == "__main__":
    main()
