"""A self-contained page of misses: question, gold and answer.

It quotes the books, so it is written to reports/ and never committed.
"""

from collections import Counter
from html import escape

from evals.report.page import wrap_page
from evals.report.results import EvalReport, Miss, SetResult

_STYLE = """
main { max-width: 62rem; }
article { border-top: 1px solid var(--rule); padding: .6rem 0; font-size: .9375rem; }
article h3 { margin: 0 0 .3rem; font-size: 1rem; } article pre { white-space: pre-wrap; font: inherit; margin: 0; }
dl { display: grid; grid-template-columns: 4.5rem 1fr; gap: .2rem .8rem; margin: 0; }
dt { color: var(--quiet); } dd { margin: 0; }
"""


def render_misses(report: EvalReport) -> str:
    """Render the misses of every set, grouped by set, with a count of where golds were lost."""
    sections = "".join(_render_set(one) for one in report.results if one.misses)
    return wrap_page("ByTheBook, misses", sections or "<p>No set has a miss.</p>", _STYLE)


def _render_set(one: SetResult) -> str:
    lost = Counter(miss.lost for miss in one.misses)
    counts = "; ".join(f"{stage}: {count}" for stage, count in lost.most_common())
    misses = "".join(_render_miss(miss) for miss in one.misses)
    return (
        f"<section><h2>{escape(one.name)}: {len(one.misses)}</h2><p>{escape(counts)}</p>"
        f"{misses}</section>"
    )


def _render_miss(miss: Miss) -> str:
    golds = "".join(f"<dt>gold</dt><dd>{escape(gold)}</dd>" for gold in miss.golds)
    answer = f"<pre>{escape(miss.answer)}</pre>" if miss.answer else "none"
    return (
        f"<article><h3>{escape(miss.question_id)}. {escape(miss.question)}</h3><dl>{golds}"
        f"<dt>answer</dt><dd>{answer}</dd><dt>lost</dt><dd>{escape(miss.lost)}</dd></dl></article>"
    )
