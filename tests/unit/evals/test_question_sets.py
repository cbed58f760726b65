import asyncio
import json
from pathlib import Path

import pytest
from evals.sets.articles import ArticleReader, load_articles
from tests.unit.fakes import (
    FakeCalibrations,
    FakeEmbedder,
    FakeIndex,
    FakeJudge,
    FakeLibrary,
    FakeSupport,
    make_chunk,
    make_document,
)

from bythebook.ask.ask_ports import AskPorts
from bythebook.ask.compose.extractive import ExtractiveGenerator
from bythebook.domain.answers import Hit
from bythebook.errors import BadQuestions
from bythebook.evaluate.run import ask_all
from bythebook.evaluate.sets import EvalQuestion, load_questions

ANSWERED = {"id": "a1", "split": "dev", "kind": "answered", "question": "What?", "quote": "That."}
SQUAD = {
    "data": [
        {
            "title": "Walking_robots",
            "paragraphs": [
                {
                    "context": "They walk\nslowly.",
                    "qas": [
                        {
                            "id": "1",
                            "question": "How?",
                            "answers": [{"text": "slowly"}, {"text": "slowly"}, {"text": "walk"}],
                        },
                        {"id": "2", "question": "Why?", "is_impossible": True, "answers": []},
                    ],
                },
                {"context": "They fall.", "qas": []},
            ],
        }
    ]
}


def write(folder: Path, *lines: object) -> Path:
    path = folder / "set.jsonl"
    path.write_text("\n".join(x if isinstance(x, str) else json.dumps(x) for x in lines), "utf-8")
    return path


def test_a_set_is_read_line_by_line(tmp_path: Path) -> None:
    foreign = {"id": 7, "kind": "foreign", "question": "Who?"}
    path = write(tmp_path, ANSWERED | {"section": "S", "reworded": True}, "", foreign)
    first, second = load_questions(path)
    assert first == EvalQuestion(
        "a1", "dev", "answered", "What?", ("That.",), section="S", reworded=True
    )
    assert (second.question_id, second.split, second.golds) == ("7", "all", ())


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[1]",
        '"text"',
        {"id": "a", "question": "What?"},
        {"id": "a", "kind": "unheard of", "question": "What?"},
        {"id": "a", "kind": "answered", "question": "What?"},
        {"id": "a", "kind": "foreign"},
    ],
)
def test_a_wrong_line_is_named_by_its_number(tmp_path: Path, line: object) -> None:
    with pytest.raises(BadQuestions, match=r"Line 2 of set\.jsonl"):
        load_questions(write(tmp_path, ANSWERED, line))


def test_a_file_that_is_empty_missing_or_binary_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(BadQuestions, match="holds no question"):
        load_questions(write(tmp_path, ""))
    with pytest.raises(BadQuestions, match="cannot be read"):
        load_questions(tmp_path / "missing.jsonl")
    (tmp_path / "binary.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadQuestions, match="cannot be read"):
        load_questions(tmp_path / "binary.jsonl")


def test_an_article_becomes_a_document_with_a_block_for_each_paragraph(tmp_path: Path) -> None:
    (article,) = load_articles(write(tmp_path, SQUAD))
    document = article.document
    assert document.title == "Walking robots"
    assert [document.text[start:end] for start, end in article.paragraphs] == [
        "They walk slowly.",
        "They fall.",
    ]
    assert [(block.start, block.end) for block in document.blocks[1:]] == list(article.paragraphs)
    (source,) = ArticleReader((article,)).read("robots", title=None, base_url=None).documents
    assert source.read() == document


def test_questions_of_an_article_know_their_paragraph_and_answers(tmp_path: Path) -> None:
    (article,) = load_articles(write(tmp_path, SQUAD))
    how, why = article.questions
    assert (how.kind, how.golds, how.paragraph) == (
        "answered",
        ("slowly", "walk"),
        article.paragraphs[0],
    )
    assert (why.kind, why.golds) == ("look_alike", ())


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"data": [{}]}', '{"data": 1}'])
def test_a_file_that_is_not_in_squads_format_is_a_clear_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadQuestions):
        load_articles(write(tmp_path, text))


def test_a_result_records_whether_the_gold_was_found_shown_and_quoted_exactly() -> None:
    document = make_document(("heading", "Gaits"), ("paragraph", "A gait is a pattern."))
    start = document.blocks[1].start
    right = make_chunk("A gait is a pattern.", char_start=start)
    shifted = make_chunk("A gait is a pattern.", char_start=start + 1)
    question = EvalQuestion("q", "dev", "answered", "What is a gait?", ("gait is a pattern",))
    seen = []
    for chunk in (right, shifted):
        ports = AskPorts(
            FakeLibrary(texts={"walking": document}),
            FakeEmbedder(),
            FakeIndex([Hit(chunk, 0.8, 0.5)]),
            FakeCalibrations(),
            FakeJudge(),
            FakeSupport(),
            ExtractiveGenerator(),
            "http://reader.test",
        )
        progress: list[tuple[int, int]] = []

        def on_result(number: int, of: int, seen: list[tuple[int, int]] = progress) -> None:
            seen.append((number, of))

        asked = asyncio.run(ask_all([question], ports, "robots", on_result))
        assert progress == [(1, 1)]
        seen.append(asked[0])
    assert all(one.answered and one.gold_in_answer and one.gold_first for one in seen)
    assert all(one.gold_retrieved and one.words == 5 and one.cosine == 0.8 for one in seen)
    assert [(one.quotes, one.exact_quotes) for one in seen] == [(1, 1), (1, 0)]
