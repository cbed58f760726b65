"""Each kind of set, measured over plain stand-ins for the parts."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from evals.__main__ import evaluate_sets
from evals.harness import CosineScorer, find_threshold
from evals.sets.book_questions import ask_book, make_book_figures
from evals.sets.claims import (
    join_sentences,
    measure_ragtruth,
    measure_wice,
    split_claims,
    split_passages,
)
from evals.sets.fairytales import load_stories, measure_fairytales, restore_case
from evals.sets.json_lines import read_json_lines
from evals.sets.mtrag import CorpusReader, make_questions, measure_mtrag
from evals.sets.mtrag import make_page as make_corpus_page
from evals.sets.passages import describe_models, make_page, measure_clapnq, measure_nomiracl
from evals.sets.squad import find_first_paragraphs, measure_squad
from evals.suite import measure_sets
from tests.unit.evals.eval_harness import LetterEmbedder, Shelf, figure, lines, make_harness, values
from tests.unit.fakes import (
    FakeJudge,
    make_chunk,
    make_document,
)

from bythebook.domain.answers import Passage
from bythebook.domain.conversations import Turn
from bythebook.errors import BadQuestions
from bythebook.evaluate.sets import EvalQuestion


def test_a_quick_run_samples_the_same_examples_each_time_and_a_full_one_takes_all() -> None:
    examples = list(range(50))
    drawn = make_harness(quick=True).sample(examples, 5)
    assert drawn == make_harness(quick=True).sample(examples, 5) == sorted(drawn)
    assert len(drawn) == 5
    assert make_harness(quick=True).sample(examples, 50) == examples
    assert make_harness().sample(examples, 5) == examples


def test_cosines_embed_nothing_twice() -> None:
    embedder = LetterEmbedder()
    cosines = CosineScorer(embedder)

    async def ask() -> list[list[float]]:
        return [
            await cosines.score("aab", ["baa", "zzz"]),
            await cosines.score("z", ["zzz", "baa"]),
        ]

    first, second = asyncio.run(ask())
    assert first == pytest.approx([1.0, 0.0])
    assert second == pytest.approx([1.0, 0.0])
    assert embedder.read == ["baa", "zzz"]
    assert asyncio.run(cosines.find_nearest("z", ["baa", "zb", "zzz"], 2)) == ["zzz", "zb"]


def test_the_baseline_threshold_lies_where_both_sides_are_wrong_the_least() -> None:
    assert 0.4 < find_threshold([0.5, 0.6, 0.9], [0.1, 0.4]) < 0.5
    assert 0.3 < find_threshold([0.2, 0.6, 0.7], [0.1, 0.3]) < 0.6


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
    harness = make_harness(shelf)
    asked = asyncio.run(ask_book(questions, "robots", harness))
    assert [one.result.answered for one in asked] == [True, False, True]
    assert asked[0].result.gold_first
    assert asked[0].nearest_right == (False, True)
    assert [one.make_decision().positive for one in asked] == [True, False, False]
    figures = {one.name: one for one in make_book_figures(asked, harness.cosine_threshold)}
    assert figures["gold shown in the answer"].value == 1
    assert figures["gold shown in the answer"].baseline == 0
    assert figures["look-alikes refused"].value == 1
    assert figures["look-alikes refused"].baseline == 0
    assert figures["foreign questions refused"].value == 0
    assert figures["look-alikes, AUROC of the judge"].value == 1
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
    harness = make_harness()
    (result,) = asyncio.run(measure_squad(tmp_path, harness))
    figures = values(result)
    assert figures["gold in the best sentence"] == 1
    assert figures["gold paragraph among the first five"] == 1
    assert figures["look-alikes, AUROC of the judge"] == 1
    assert figures["passages without the answer, AUROC of the judge"] == 1
    assert figures["foreign questions, AUROC of relevance x judge"] == 1
    assert figure(result, "foreign questions, AUROC of relevance").value == 0.5
    assert len(harness.published["squad"].documents) == 3
    assert [d.document_id for d in harness.published["squad-without-0"].documents] == [
        "Ants",
        "Cows",
    ]
    assert len(result.decisions) == 4


def test_paragraphs_are_counted_once_however_many_passages_touch_them() -> None:
    spans = {"walking": [(0, 10), (12, 40)]}
    passages = [Passage(make_chunk("A" * 8, char_start=start), 0.5) for start in (14, 25, 6, 0)]
    assert find_first_paragraphs(passages, spans) == [("walking", (12, 40)), ("walking", (0, 10))]
    assert find_first_paragraphs(passages, spans, most=1) == [("walking", (12, 40))]


def test_stories_get_their_case_back_and_become_books(tmp_path: Path) -> None:
    assert (
        restore_case("once he came . then , she left . ' why ? '")
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
    (result,) = asyncio.run(measure_fairytales(tmp_path, make_harness()))
    assert [one.positive for one in result.decisions] == [True, False, True, False]
    assert values(result)["foreign questions refused"] == 1
    assert values(result)["wrongly refused"] == 0
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
    (result,) = asyncio.run(measure_clapnq(tmp_path, make_harness()))
    figures = values(result)
    assert figures["wrongly answered"] == pytest.approx(1 / 3)
    assert figures["wrongly refused"] == 0.5
    assert figures["mean of both"] == pytest.approx(5 / 12)
    assert figures["the first sentence chosen is one that people chose"] == 0.5
    assert figure(result, "wrongly answered").better == "lower"


def nomiracl(question: str, *passages: str, answerable: bool, reply: str) -> dict[str, object]:
    models = ("gpt-4-azure", "Mixtral-8x7B-Instruct-v0.1", "Mistral-7B-Instruct-v0.2")
    return {
        "question": question,
        "passages": passages,
        "answerable": answerable,
        "model_outputs": dict.fromkeys(models, reply),
    }


def test_nomiracl_is_compared_with_the_replies_of_language_models(tmp_path: Path) -> None:
    rows = [
        nomiracl("Who? owls", "Owl: The owls sang.", answerable=True, reply="I don't know."),
        nomiracl(
            "Who? ants", "Owl: The owls sang.", answerable=False, reply="Yes, answer is present."
        ),
        nomiracl("Who? bees", "No title", answerable=False, reply="I don't know. Yes?"),
    ]
    lines(tmp_path / "nomiracl" / "en_public.jsonl", *rows)
    (result,) = asyncio.run(measure_nomiracl(tmp_path, make_harness()))
    assert values(result)["wrongly answered"] == 0
    assert values(result)["wrongly refused"] == 0
    assert "GPT-4 50 / 100 %" in result.notes[0]
    assert describe_models(rows[:2]).startswith("GPT-4 100 / 100 %")


def test_an_answer_is_supported_as_far_as_its_worst_sentence(tmp_path: Path) -> None:
    text = "passage 1:Bees make honey.\n\npassage 2:Ants make hills.\n\n"
    assert split_passages(text) == ["Bees make honey.", "Ants make hills."]
    assert list(split_claims("Bees make honey. Yes! Ants make jam.")) == [
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
    (result,) = asyncio.run(measure_ragtruth(tmp_path, make_harness()))
    assert [(one.positive, one.score) for one in result.decisions] == [
        (False, 0.1),
        (False, 0.9),
        (True, 0.9),
    ]
    assert values(result)["F1 of finding unsupported answers"] == pytest.approx(2 / 3)


def test_a_claim_supported_in_part_counts_as_unsupported(tmp_path: Path) -> None:
    long = ["Filler sentence number one is here. " * 20, "", "Bees make honey."]
    assert [len(part) for part in join_sentences([*long, "x" * 890])] == [719 + 1 + 16, 890]
    lines(
        tmp_path / "wice" / "claims_dev.jsonl",
        {"claim": "Bees make honey.", "evidence": long, "label": "supported"},
        {"claim": "Bees like honey.", "evidence": long, "label": "partially_supported"},
        {"claim": "Bees make jam.", "evidence": long, "label": "not_supported"},
    )
    (result,) = asyncio.run(measure_wice(tmp_path, make_harness()))
    assert [one.positive for one in result.decisions] == [True, False, False]
    assert values(result)["F1 of finding supported claims"] == pytest.approx(2 / 3)


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


def test_turns_are_searched_by_themselves_and_in_the_conversation(tmp_path: Path) -> None:
    asked = make_questions(turn("What do they make? honey", ["a"]), "bees")
    assert len(asked) == 4
    assert asked["in the conversation"].turns == (Turn("Who are bees?", "Bees fly."),)
    row = {"_id": "a", "title": "", "text": "\nBees\nBees make honey.\n\nMuch of it."}
    document = make_corpus_page(row)
    assert document.title == "Bees"
    assert [document.text[b.start : b.end] for b in document.blocks] == [
        "Bees",
        "Bees make honey.",
        "Much of it.",
    ]
    assert make_corpus_page({"_id": "b", "text": "One line"}).text == "One line\n\nOne line"
    lines(
        tmp_path / "mtrag" / "turns_public.jsonl",
        turn("What do they make? honey", ["a", "missing"]),
        turn("What else?", [], "UNANSWERABLE"),
        turn("And partly?", ["a"], "PARTIAL"),
    )
    lines(tmp_path / "mtrag" / "corpus_cloud.jsonl", row)
    harness = make_harness()
    (result,) = asyncio.run(measure_mtrag(tmp_path, harness))
    assert values(result)["recall at 5, by itself"] == pytest.approx(0.75)
    assert [one.positive for one in result.decisions] == [True, False]
    (source,) = CorpusReader((row,)).read("c", title=None, base_url=None).documents
    assert source.read() == document


def test_sets_whose_files_are_missing_are_skipped_with_a_reason(tmp_path: Path) -> None:
    lines(
        tmp_path / "nomiracl" / "en_public.jsonl",
        nomiracl("Who? x", "x", answerable=True, reply=""),
    )
    seen: list[str] = []
    questions = [EvalQuestion("1", "test", "foreign", "Who?")]
    report = asyncio.run(
        measure_sets(
            questions, tmp_path, make_harness(), seen.append, ("sample", "nomiracl", "squad")
        )
    )
    assert seen == ["sample", "nomiracl"]
    assert [one.name for one in report.skipped] == ["squad"]
    assert "squad2/squad2_report.json" in report.skipped[0].reason
    report = asyncio.run(measure_sets(questions, None, make_harness(), seen.append))
    assert {one.reason for one in report.skipped} == {"no data folder was given"}


def test_a_set_that_does_not_exist_is_a_clear_error() -> None:
    with pytest.raises(BadQuestions, match="no set 'nothing'") as error:
        evaluate_sets(only=["squad", "nothing"])
    assert "sample, readers, dialogues, canard, squad" in error.value.help_message


def test_a_line_may_hold_any_character_but_its_end(tmp_path: Path) -> None:
    lines(tmp_path / "set.jsonl", {"text": "one\u2028line\x85"}, {"text": "two"})
    assert [row["text"] for row in read_json_lines(tmp_path / "set.jsonl")] == [
        "one\u2028line\x85",
        "two",
    ]
    (tmp_path / "set.jsonl").write_text("{")
    with pytest.raises(BadQuestions, match=r"set\.jsonl"):
        read_json_lines(tmp_path / "set.jsonl")


def test_the_judge_without_evidence_answers_nothing(tmp_path: Path) -> None:
    harness = make_harness()
    silent = replace(harness, ask=replace(harness.ask, judge=FakeJudge(finds_evidence=False)))
    lines(
        tmp_path / "nomiracl" / "en_public.jsonl",
        nomiracl("Who? x", "T: x", answerable=True, reply=""),
        nomiracl("Who? x", "T: x", answerable=False, reply=""),
    )
    (result,) = asyncio.run(measure_nomiracl(tmp_path, silent))
    assert [one.answered for one in result.decisions] == [False, False]
    assert values(result)["wrongly refused"] == 1
