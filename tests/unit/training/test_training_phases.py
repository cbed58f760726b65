"""How training goes on: what a phase reads, what is made again, and what figures say."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from training.dev import Read, dev_examples, figures
from training.examples import Example, read, sentences, write
from training.phases import SHARES, bucket_of, choose, key_of, phase_examples
from training.prepare import refresh

TEXT = "The heron eats fish. It nests in tall trees. Its eggs are blue."


def example(number: int, source: str = "written book", **given: object) -> Example:
    values: dict[str, object] = {
        "source": source,
        "group": "squad Kenya",
        "task": "question",
        "text": f"Where does heron {number} nest?",
        "head": "",
        "passage": TEXT,
        "units": sentences(TEXT),
        "holds": True,
        "evidence": (1,),
    }
    return Example(**{**values, **given})  # type: ignore[arg-type]


def many(count: int) -> list[Example]:
    sources = (("written book", "question"), ("squad", "question"), ("written book", "claim"))
    kinds = (*sources, ("corrupted book", "claim"))
    return [example(n, source, task=task) for n in range(count) for source, task in kinds]


def test_a_phase_takes_its_share_of_every_kind() -> None:
    chosen = choose(many(400), {}, 400, seed=1)
    counts = Counter(bucket_of(one) for one in chosen)
    assert counts == {name: round(400 * share) for name, share in SHARES.items()}


def test_what_a_phase_lacks_is_shared_by_the_others() -> None:
    chosen = choose([example(n) for n in range(100)], {}, 60, seed=1)
    assert len(chosen) == 60


def test_what_was_read_least_comes_first() -> None:
    old, new = [example(n) for n in range(100)], [example(n) for n in range(100, 130)]
    seen = {key_of(one): 1 for one in old}
    chosen = choose([*old, *new], seen, 40, seed=1)
    assert {one.text for one in new} <= {one.text for one in chosen}


def test_a_phase_that_has_begun_ignores_files_that_arrive_later(tmp_path: Path) -> None:
    (tmp_path / "examples").mkdir()
    (tmp_path / "run").mkdir()
    write(tmp_path / "examples" / "a.jsonl", [example(n) for n in range(30)])
    first = phase_examples(tmp_path, 0)
    write(tmp_path / "examples" / "b.jsonl", [example(n) for n in range(30, 60)])
    assert phase_examples(tmp_path, 0) == first
    texts = {one.text for one in phase_examples(tmp_path, 1)}
    assert len(texts) == 60


def test_pages_held_back_are_in_no_phase_and_only_they_in_figures(tmp_path: Path) -> None:
    (tmp_path / "examples").mkdir()
    (tmp_path / "run").mkdir()
    held_back = [example(n, group="squad Normans") for n in range(10)]
    write(tmp_path / "examples" / "a.jsonl", [*held_back, example(11)])
    assert {one.group for one in phase_examples(tmp_path, 0)} == {"squad Kenya"}
    assert {one.group for one in dev_examples(tmp_path)} == {"squad Normans"}


def test_examples_are_made_again_only_where_their_source_changed(tmp_path: Path) -> None:
    (tmp_path / "examples").mkdir()
    refresh(tmp_path, "some", b"one", lambda: [example(1)])
    refresh(tmp_path, "some", b"one", lambda: pytest.fail("made again"))
    refresh(tmp_path, "some", b"two", lambda: [example(1), example(2)])
    assert len(list(read(tmp_path / "examples" / "some.jsonl"))) == 2


def test_figures_compare_what_holds_with_each_kind_that_does_not() -> None:
    def make_read(value: float, unit: int, **given: object) -> Read:
        return Read(example(1, "written book", **given), value, 0.0, unit, 0.0)

    good = [make_read(1.0, 1) for _ in range(20)] + [make_read(1.0, 0) for _ in range(20)]
    near = [
        make_read(value, 0, holds=False, evidence=(), kind="look-alike")
        for value in np.linspace(0, 2, 40)
    ]
    far = [make_read(-1.0, 0, holds=False, evidence=(), kind="retrieved") for _ in range(20)]
    found = figures([*good, *near, *far])
    assert found["books question look-alike"] == pytest.approx(0.5, abs=0.02)
    assert found["books question retrieved"] == 1.0
    assert found["books evidence first"] == 0.5
