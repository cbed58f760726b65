"""Words: found, normalized and stemmed the same everywhere."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from bythebook.domain.text.words import find_words, stem


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The robot's arm", ["the", "robot", "arm"]),
        ("A robot’s ARM", ["a", "robot", "arm"]),
        ("Don't use snake_case!", ["don't", "use", "snake", "case"]),
        ("real-time ROS 2", ["real", "time", "ros", "2"]),
        ("...", []),
    ],
)
def test_words_are_lower_case_and_without_possessive(text: str, words: list[str]) -> None:
    assert find_words(text) == words


def test_forms_of_a_word_share_a_stem() -> None:
    assert len({stem(word) for word in ("publish", "publishes", "published", "publishing")}) == 1
    assert stem("publish") != stem("public")


def test_words_are_stemmed_alike_by_many_threads_at_once() -> None:
    words = [
        f"{root}{ending}"
        for root in ("walk", "jump", "talk", "plann")
        for ending in ("ing", "ed", "er", "s")
    ]
    invented = [f"{letter}{word}" for letter in "bcdfghklmnprstvw" for word in words] * 4
    stem.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(stem, invented, chunksize=7))
    stem.cache_clear()
    assert together == [stem(word) for word in invented]
