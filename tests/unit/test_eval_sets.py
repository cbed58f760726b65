"""Each kind of set, measured over plain stand-ins for the parts."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from tests.unit.fakes import (
    MODEL,
    FakeCalibrations,
    FakeJudge,
    make_book,
    make_chunk,
    make_document,
    words,
)

from bythebook.ask.compose.extractive import ExtractiveGenerator
from bythebook.ask.pipeline import AskPorts
from bythebook.domain.answers import Evidence, Hit, Judgement, Passage
from bythebook.domain.books import Block, Book, Chunk, Document, SourceBook
from bythebook.domain.units import selection_units
from bythebook.errors import BadQuestions
from bythebook.evaluate.articles import first_paragraphs, measure_squad
from bythebook.evaluate.bench import Bench, Cosines, best_threshold
from bythebook.evaluate.book_sets import ask_book, book_figures
from bythebook.evaluate.claim_sets import (
    claims_of,
    joined,
    measure_ragtruth,
    measure_wice,
    ragtruth_passages,
)
from bythebook.evaluate.measured import Figure, Measured
from bythebook.evaluate.mtrag import CorpusReader, measure_mtrag, page, questions_of
from bythebook.evaluate.passage_sets import (
    make_page,
    measure_clapnq,
    measure_nomiracl,
    published,
)
from bythebook.evaluate.sets import EvalQuestion, read_lines
from bythebook.evaluate.stories import load_stories, measure_stories, mended
from bythebook.evaluate.suite import measure_all
from bythebook.ingest.pipeline import IngestPorts
from bythebook.ports import BookReader, Lookup, Vector, Vectors


@dataclass
class LetterEmbedder:
    """Embeds a text as how often it has each letter."""

    model_id: str = MODEL
    dimension: int = 26
    usd_per_million_tokens: float = 0.0
    read: list[str] = field(default_factory=list)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return words(texts)

    async def embed_query(self, text: str) -> Vector:
        return letters(text)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.read.extend(texts)
        return np.stack([letters(text) for text in texts])


def letters(text: str) -> Vector:
    """Count letters."""
    return np.array([text.lower().count(chr(97 + n)) for n in range(26)], np.float32)


class WordJudge:
    """Finds that a passage answers, and supports, as far as it has the question's last word."""

    async def judge(self, question: str, passages: Sequence[Passage]) -> Judgement:
        wanted = question.rstrip("?").split()[-1]
        found = [
            Evidence(passage, unit, 0.9)
            for passage in passages
            for unit in passage.chunk.units
            if wanted in passage.chunk.text[unit.start : unit.end]
        ]
        other = [Evidence(p, p.chunk.units[0], 0.1) for p in passages if p.chunk.units]
        supports = tuple(0.5 for _ in passages)
        return Judgement(0.9 if found else 0.1, supports, tuple(found or other))

    async def support(self, claim: str, passages: Sequence[Passage]) -> float:
        last = claim.rstrip(".").split()[-1]
        return 0.9 if any(last in passage.chunk.text for passage in passages) else 0.1


@dataclass
class Shelf:
    """A library and an index in one: finds all that its books hold."""

    hits: dict[str, list[Hit]] = field(default_factory=dict)
    pages: dict[tuple[str, str], Document] = field(default_factory=dict)

    def books(self) -> Sequence[Book]:
        return [self.book(book_id) for book_id in self.hits]

    def book(self, book_id: str) -> Book:
        return make_book(book_id)

    def documents(self, book_id: str) -> Sequence[Document]:
        return [page for (owner, _), page in self.pages.items() if owner == book_id]

    def document(self, book_id: str, document_id: str) -> Document:
        return self.pages[book_id, document_id]

    def put(self, book_id: str, *documents: Document) -> None:
        self.hits[book_id] = [
            Hit(_chunk(book_id, document, block), 0.6, 0.5)
            for document in documents
            for block in document.blocks
            if block.kind != "heading"
        ]
        self.pages |= {(book_id, document.document_id): document for document in documents}

    async def search(self, wanted: Lookup) -> Sequence[Hit]:
        found = [hit for book in wanted.books for hit in self.hits[book.book_id]]
        within = wanted.within
        return [hit for hit in found if within is None or within.holds(hit.chunk)]

    async def vectors(self, chunks: Sequence[Chunk]) -> Vectors:
        raise NotImplementedError


def _chunk(book_id: str, document: Document, block: Block) -> Chunk:
    text = document.text[block.start : block.end]
    chunk = make_chunk(
        text, book_id=book_id, document_id=document.document_id, char_start=block.start
    )
    return replace(chunk, units=selection_units(text))


@dataclass(frozen=True, slots=True)
class ShelfBench(Bench):
    """A bench whose books need no index: what is published is what is found."""

    published: dict[str, SourceBook] = field(default_factory=dict)

    async def publish(self, book_id: str, reader: BookReader) -> None:
        book = reader.read(book_id, title=None, base_url=None)
        self.published[book_id] = book
        assert isinstance(self.ask.library, Shelf)
        self.ask.library.put(book_id, *(source.read() for source in book.documents))


def bench(shelf: Shelf | None = None, *, quick: bool = False) -> ShelfBench:
    judge, embedder = WordJudge(), LetterEmbedder()
    shelf = shelf or Shelf({"sample": []})
    ask = AskPorts(
        library=shelf,
        embedder=embedder,
        index=shelf,
        calibrations=FakeCalibrations(),
        judge=judge,
        support=judge,
        generator=ExtractiveGenerator(),
        reader_url="http://reader.test",
    )
    unused: IngestPorts = None  # type: ignore[assignment]
    return ShelfBench(ask, unused, Cosines(embedder), 0.5, quick=quick)


def lines(path: Path, *rows: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), "utf-8")


def values(measured: Measured) -> dict[str, float]:
    return {figure.name: figure.value for figure in measured.figures}


def figure(measured: Measured, name: str) -> Figure:
    return next(one for one in measured.figures if one.name == name)


def test_a_quick_run_draws_the_same_examples_each_time_and_a_full_one_takes_all() -> None:
    examples = list(range(50))
    drawn = bench(quick=True).draw(examples, 5)
    assert drawn == bench(quick=True).draw(examples, 5) == sorted(drawn)
    assert len(drawn) == 5
    assert bench(quick=True).draw(examples, 50) == examples
    assert bench().draw(examples, 5) == examples


def test_cosines_embed_nothing_twice() -> None:
    embedder = LetterEmbedder()
    cosines = Cosines(embedder)

    async def ask() -> list[list[float]]:
        return [await cosines.of("aab", ["baa", "zzz"]), await cosines.of("z", ["zzz", "baa"])]

    first, second = asyncio.run(ask())
    assert first == pytest.approx([1.0, 0.0])
    assert second == pytest.approx([1.0, 0.0])
    assert embedder.read == ["baa", "zzz"]
    assert asyncio.run(cosines.nearest("z", ["baa", "zb", "zzz"], 2)) == ["zzz", "zb"]


def test_the_baseline_threshold_lies_where_both_sides_are_wrong_the_least() -> None:
    assert 0.4 < best_threshold([0.5, 0.6, 0.9], [0.1, 0.4]) < 0.5
    assert 0.3 < best_threshold([0.2, 0.6, 0.7], [0.1, 0.3]) < 0.6


def test_questions_of_a_book_are_compared_with_the_nearest_sentence() -> None:
    right = "Quick zebras quiz jazz."
    shelf = Shelf()
    shelf.put(
        "robots", make_document(("heading", "Gaits"), ("paragraph", f"Slow is what is. {right}"))
    )
    questions = [
        EvalQuestion("1", "all", "answered", "What is slow? zebras", (right,)),
        EvalQuestion("2", "all", "look_alike", "Who is slow? nobody"),
        EvalQuestion("3", "all", "foreign", "Who is zebras"),
    ]
    on_bench = bench(shelf)
    compared = asyncio.run(ask_book(questions, "robots", on_bench))
    assert [one.asked.answered for one in compared] == [True, False, True]
    assert compared[0].asked.gold_first
    assert compared[0].nearest == (False, True)
    assert [one.verdict.positive for one in compared] == [True, False, False]
    figures = {one.name: one for one in book_figures(compared, on_bench)}
    assert figures["answered with the right sentence"].value == 1
    assert figures["answered with the right sentence"].baseline == 0
    assert figures["look-alikes refused"].value == 1
    assert figures["look-alikes refused"].baseline == 0
    assert figures["foreign questions refused"].value == 0
    assert figures["look-alikes told by the judge, AUROC"].value == 1
    assert figures["words in an answer, median"].better == "neither"


def squad(title: str, *paragraphs: tuple[str, str, str]) -> dict[str, object]:
    """An article of paragraphs, each with a question, and a look-alike."""
    return {
        "title": title,
        "paragraphs": [
            {
                "context": context,
                "qas": [
                    {"id": f"{title}{n}", "question": question, "answers": [{"text": answer}]},
                    {
                        "id": f"{title}{n}x",
                        "question": "Who nobody?",
                        "is_impossible": True,
                        "answers": [],
                    },
                ],
            }
            for n, (context, question, answer) in enumerate(paragraphs)
        ],
    }


def test_squad_is_judged_with_and_without_the_paragraph_that_answers(tmp_path: Path) -> None:
    report = [
        squad("Bees", ("Bees make honey.", "What do bees make? honey", "honey")),
        squad("Ants", ("Ants make hills.", "What do ants make? hills", "hills")),
    ]
    (tmp_path / "squad2").mkdir()
    (tmp_path / "squad2" / "squad2_report.json").write_text(json.dumps({"data": report}))
    more = [squad("Cows", ("Cows make milk.", "What do cows make? milk", "milk"))]
    (tmp_path / "squad2" / "squad2_train.json").write_text(json.dumps({"data": more}))
    on_bench = bench()
    (measured,) = asyncio.run(measure_squad(tmp_path, on_bench))
    figures = values(measured)
    assert figures["the first sentence chosen is right"] == 1
    assert figures["gold paragraph among the first five"] == 1
    assert figures["look-alikes told by the judge, AUROC"] == 1
    assert figures["passages without the answer told by the judge, AUROC"] == 1
    assert figures["foreign questions told by relevance x judge, AUROC"] == 1
    assert figure(measured, "foreign questions told by relevance, AUROC").value == 0.5
    assert len(on_bench.published["squad"].documents) == 3
    assert [d.document_id for d in on_bench.published["squad-without-0"].documents] == [
        "Ants",
        "Cows",
    ]
    assert len(measured.verdicts) == 4


def test_paragraphs_are_counted_once_however_many_passages_touch_them() -> None:
    spans = {"walking": [(0, 10), (12, 40)]}
    passages = [Passage(make_chunk("A" * 8, char_start=start), 0.5) for start in (14, 25, 6, 0)]
    assert first_paragraphs(passages, spans) == [("walking", (12, 40)), ("walking", (0, 10))]
    assert first_paragraphs(passages, spans, most=1) == [("walking", (12, 40))]


def test_stories_are_mended_and_cut_into_books(tmp_path: Path) -> None:
    assert (
        mended("once he came . then , she left . ' why ? '")
        == "Once he came. Then, she left. ' Why? '"
    )
    path = tmp_path / "fairytaleqa" / "valid.csv"
    path.parent.mkdir()
    path.write_text(
        "story_name,content,question,answer1,answer2,local_or_sum,attribute,ex_or_im,ex_or_im2\n"
        "the-fox,the fox ran . it hid .,what did the fox do so ran,ran .,it ran .,local,action,explicit,explicit\n"
        "the-fox,the fox ran . it hid .,why ? x,fear .,,local,action,implicit,\n"
        "the-owl,the owl sang .,what did the owl do so sang,sang .,,local,action,explicit,\n"
    )
    fox, owl = load_stories(path)
    assert fox.document.text == "The fox\n\nThe fox ran. It hid."
    assert [question.golds for question in fox.questions] == [("ran .", "it ran .")]
    assert owl.questions[0].question.startswith("What")
    (measured,) = asyncio.run(measure_stories(tmp_path, bench()))
    assert [one.positive for one in measured.verdicts] == [True, False, True, False]
    assert values(measured)["foreign questions refused"] == 1
    assert values(measured)["wrongly refused"] == 0
    path.write_text("a,b\n1,2\n")
    with pytest.raises(BadQuestions, match=r"valid\.csv"):
        load_stories(path)


def test_passages_of_a_question_are_sections_of_one_page() -> None:
    made = make_page("q", "Who?", [("Owls", "They sing."), ("Foxes", "They run.")], ("They run.",))
    document = made.document
    assert [document.text[start:end] for start, end in made.paragraphs] == [
        "They sing.",
        "They run.",
    ]
    assert [document.text[one.start : one.end] for one in document.sections] == [
        "Owls\n\nThey sing.",
        "Foxes\n\nThey run.",
    ]
    assert made.questions[0].kind == "answered"
    assert make_page("q", "Who?", [("Owls", "They sing.")], None).questions[0].kind == "look_alike"


def clapnq(question: str, text: str, *chosen: str) -> dict[str, object]:
    passages = [{"title": "T", "text": text, "sentences": []}]
    return {
        "id": question,
        "input": question,
        "passages": passages,
        "output": [{"selected_sentences": chosen}],
    }


def test_clapnq_counts_wrong_answers_and_wrong_refusals(tmp_path: Path) -> None:
    lines(
        tmp_path / "clapnq" / "clapnq_dev_answerable.jsonl",
        clapnq("Who sang? owls", "Zzz zzz. The owls sang .", "The owls sang ."),
        clapnq("Who ran? foxes", "Nobody knows. They ran.", "They ran."),
    )
    lines(
        tmp_path / "clapnq" / "clapnq_dev_unanswerable.jsonl",
        clapnq("Who hid? bears", "The bears hid."),
        clapnq("Who hid? wolves", "The bears hid."),
        clapnq("Who hid? hares", "The bears hid."),
    )
    (measured,) = asyncio.run(measure_clapnq(tmp_path, bench()))
    figures = values(measured)
    assert figures["wrongly answered"] == pytest.approx(1 / 3)
    assert figures["wrongly refused"] == 0.5
    assert figures["mean of both"] == pytest.approx(5 / 12)
    assert figures["the first sentence chosen is one that people chose"] == 0.5
    assert figure(measured, "wrongly answered").better == "lower"


def nomiracl(question: str, *passages: str, answerable: bool, reply: str) -> dict[str, object]:
    models = ("gpt-4-azure", "Mixtral-8x7B-Instruct-v0.1", "Mistral-7B-Instruct-v0.2")
    return {
        "question": question,
        "passages": passages,
        "answerable": answerable,
        "model_outputs": dict.fromkeys(models, reply),
    }


def test_nomiracl_stands_beside_the_replies_of_language_models(tmp_path: Path) -> None:
    rows = [
        nomiracl("Who? owls", "Owl: The owls sang.", answerable=True, reply="I don't know."),
        nomiracl(
            "Who? ants", "Owl: The owls sang.", answerable=False, reply="Yes, answer is present."
        ),
        nomiracl("Who? bees", "No title", answerable=False, reply="I don't know. Yes?"),
    ]
    lines(tmp_path / "nomiracl" / "en_public.jsonl", *rows)
    (measured,) = asyncio.run(measure_nomiracl(tmp_path, bench()))
    assert values(measured)["wrongly answered"] == 0
    assert values(measured)["wrongly refused"] == 0
    assert "GPT-4 50 / 100 %" in measured.notes[0]
    assert published(rows[:2]).startswith("GPT-4 100 / 100 %")


def test_an_answer_is_supported_as_far_as_its_worst_sentence(tmp_path: Path) -> None:
    text = "passage 1:Bees make honey.\n\npassage 2:Ants make hills.\n\n"
    assert ragtruth_passages(text) == ["Bees make honey.", "Ants make hills."]
    assert list(claims_of("Bees make honey. Yes! Ants make jam.")) == [
        "Bees make honey.",
        "Ants make jam.",
    ]
    mark = [{"start": 0, "end": 3}]
    lines(
        tmp_path / "ragtruth" / "ragtruth_qa_public.jsonl",
        {"d1": text, "d2": "Bees make honey. Ants make hills.", "labels": []},
        {"d1": text, "d2": "Bees make honey. Ants make jam.", "labels": mark},
        {"d1": text, "d2": "Cows make honey.", "labels": mark},
    )
    (measured,) = asyncio.run(measure_ragtruth(tmp_path, bench()))
    assert [(one.positive, one.score) for one in measured.verdicts] == [
        (False, 0.1),
        (False, 0.9),
        (True, 0.9),
    ]
    assert values(measured)["F1 of finding unsupported answers"] == pytest.approx(2 / 3)


def test_a_claim_supported_in_part_counts_as_unsupported(tmp_path: Path) -> None:
    long = ["Filler sentence number one is here. " * 20, "", "Bees make honey."]
    assert [len(part) for part in joined([*long, "x" * 890])] == [719 + 1 + 16, 890]
    lines(
        tmp_path / "wice" / "claims_dev.jsonl",
        {"claim": "Bees make honey.", "evidence": long, "label": "supported"},
        {"claim": "Bees like honey.", "evidence": long, "label": "partially_supported"},
        {"claim": "Bees make jam.", "evidence": long, "label": "not_supported"},
    )
    (measured,) = asyncio.run(measure_wice(tmp_path, bench()))
    assert [one.positive for one in measured.verdicts] == [True, False, False]
    assert values(measured)["F1 of finding supported claims"] == pytest.approx(2 / 3)


def turn(
    question: str, relevant: Sequence[str], answerability: str = "ANSWERABLE"
) -> dict[str, object]:
    history = [
        {"role": "user", "content": "Who are bees?"},
        {"role": "agent", "content": "Bees fly."},
    ]
    return {
        "domain": "cloud",
        "history": history,
        "question": question,
        "standalone": "What do bees make? honey",
        "relevant": dict.fromkeys(relevant, 1),
        "answerability": answerability,
    }


def test_turns_are_looked_for_as_asked_and_rewritten(tmp_path: Path) -> None:
    asked = questions_of(turn("What do they make? honey", ["a"]))
    assert list(asked) == ["as asked", "rewritten", "human rewrite"]
    assert "bees" in asked["rewritten"].lower()
    row = {"_id": "a", "title": "", "text": "\nBees\nBees make honey.\n\nMuch of it."}
    document = page(row)
    assert document.title == "Bees"
    assert [document.text[b.start : b.end] for b in document.blocks] == [
        "Bees",
        "Bees make honey.",
        "Much of it.",
    ]
    assert page({"_id": "b", "text": "One line"}).text == "One line\n\nOne line"
    lines(
        tmp_path / "mtrag" / "turns_public.jsonl",
        turn("What do they make? honey", ["a", "missing"]),
        turn("What else?", [], "UNANSWERABLE"),
        turn("And partly?", ["a"], "PARTIAL"),
    )
    lines(tmp_path / "mtrag" / "corpus_cloud.jsonl", row)
    on_bench = bench()
    (measured,) = asyncio.run(measure_mtrag(tmp_path, on_bench))
    assert values(measured)["recall at 5, as asked"] == pytest.approx(0.75)
    assert [one.positive for one in measured.verdicts] == [True, False]
    (source,) = CorpusReader((row,)).read("c", title=None, base_url=None).documents
    assert source.read() == document


def test_sets_that_are_not_there_are_left_out_with_a_reason(tmp_path: Path) -> None:
    lines(
        tmp_path / "nomiracl" / "en_public.jsonl",
        nomiracl("Who? x", "x", answerable=True, reply=""),
    )
    seen: list[str] = []
    questions = [EvalQuestion("1", "test", "foreign", "Who?")]
    report = asyncio.run(
        measure_all(questions, tmp_path, bench(), seen.append, ("sample", "nomiracl", "squad"))
    )
    assert seen == ["sample", "nomiracl"]
    assert [left.name for left in report.left_out] == ["squad"]
    assert "squad2/squad2_report.json" in report.left_out[0].reason
    report = asyncio.run(measure_all(questions, None, bench(), seen.append))
    assert {left.reason for left in report.left_out} == {"no data folder was given"}


def test_a_line_may_hold_any_character_but_its_end(tmp_path: Path) -> None:
    lines(tmp_path / "set.jsonl", {"text": "one\u2028line\x85"}, {"text": "two"})
    assert [row["text"] for row in read_lines(tmp_path / "set.jsonl")] == [
        "one\u2028line\x85",
        "two",
    ]
    (tmp_path / "set.jsonl").write_text("{")
    with pytest.raises(BadQuestions, match=r"set\.jsonl"):
        read_lines(tmp_path / "set.jsonl")


def test_the_judge_without_evidence_answers_nothing(tmp_path: Path) -> None:
    on_bench = bench()
    silent = replace(on_bench, ask=replace(on_bench.ask, judge=FakeJudge(finds_evidence=False)))
    lines(
        tmp_path / "nomiracl" / "en_public.jsonl",
        nomiracl("Who? x", "T: x", answerable=True, reply=""),
        nomiracl("Who? x", "T: x", answerable=False, reply=""),
    )
    (measured,) = asyncio.run(measure_nomiracl(tmp_path, silent))
    assert [one.answered for one in measured.verdicts] == [False, False]
    assert values(measured)["wrongly refused"] == 1
