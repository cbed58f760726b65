"""What of a web page is its article, and what only leads around."""

from pathlib import Path

import pytest

from bythebook.adapters.readers.html.folder import HtmlFolderReader
from bythebook.adapters.readers.html.page.main_content import extract_main_content, find_title
from bythebook.adapters.readers.html.page.parse import parse_html
from bythebook.adapters.readers.html.page.visible import extract_visible_text

_FRAME = """<a class="skip-link" href="#x">Skip to content</a><header><a href="/">Logo of the
site</a></header><nav><ul><li><a href="/a">Page A</a></li></ul></nav>"""
_FOOTER = "<footer>Made by people. <a href='/imprint'>Imprint</a></footer>"
_TEXT = "<h1>Title</h1><p>First words.</p><p>Last words.</p>"


def _read(page: str) -> tuple[str, str]:
    """Give the article's text and the text left out."""
    main = extract_main_content(parse_html(page))
    return extract_visible_text(main.element), "\n".join(main.left_out)


@pytest.mark.parametrize(
    ("generator", "article"),
    [
        ("plain", f"<main>{_TEXT}</main>"),
        ("role", f'<div role="main">{_TEXT}</div>'),
        ("article", f"<article>{_TEXT}</article>"),
        (
            "Docusaurus",
            f"""<main><article><nav class="theme-doc-breadcrumbs"><a href="/">Home crumb</a></nav>
            <div class="theme-doc-markdown markdown">{_TEXT}</div><footer class="theme-doc-footer">
            <a href="/edit">Edit this page</a><span>Last updated in May</span></footer></article>
            <nav class="pagination-nav"><a href="/n">Next page</a></nav></main>""",
        ),
        (
            "Read the Docs",
            f"""<div class="rst-content"><div role="navigation"><ul class="wy-breadcrumbs"><li>
            <a href="/">Docs</a></li></ul></div><div role="main" class="document"><div
            itemprop="articleBody">{_TEXT}</div></div><footer>Built with care</footer></div>""",
        ),
        (
            "Sphinx",
            f"""<div class="document"><div class="body" role="main">{_TEXT}</div></div><div
            class="sphinxsidebar"><h3>Contents</h3><ul><li><a href="#a">A</a></li></ul></div>""",
        ),
        ("mdBook", f'<div id="content"><main>{_TEXT}</main><nav><a href="n">Next</a></nav></div>'),
        (
            "MkDocs",
            f"""<main class="md-main"><div class="md-sidebar"><nav class="md-nav"><ul><li><a
            href="/x">X</a></li></ul></nav></div><div class="md-content"><article
            class="md-content__inner"><a class="md-content__button" title="Edit this page"
            href="e">Edit this page</a>{_TEXT}</article></div></main>""",
        ),
        (
            "VitePress",
            f"""<div class="VPDoc"><aside><a href="#a">On this page</a></aside><main class="main">
            <div class="vp-doc _x">{_TEXT}</div></main><footer class="VPDocFooter"><a href="n">Next
            page</a></footer></div>""",
        ),
        (
            "Docsy",
            f"""<main role="main"><ol class="breadcrumb"><li><a href="/">Docs</a></li></ol><div
            class="td-content">{_TEXT}<p><a href="e">Edit this page</a></p></div></main>""",
        ),
        (
            "cookies",
            f"""<main>{_TEXT}<div class="cookie-banner"><p>We use cookies to know who reads what
            and when.</p><button>Accept</button></div></main>""",
        ),
        (
            "contents of the page",
            f"""<main><nav class="contents" id="contents"><p>Table of Contents</p><ul><li><a
            href="#a">A part</a></li></ul></nav>{_TEXT}</main>""",
        ),
    ],
)
def test_the_article_is_read_without_navigation(generator: str, article: str) -> None:
    text, left_out = _read(f"<html><body>{_FRAME}{article}{_FOOTER}</body></html>")
    assert text == "Title\nFirst words.\nLast words.", generator
    for words in ("Skip to content", "Logo of the site", "Page A", "Made by people. Imprint"):
        assert words in left_out


def test_nothing_visible_is_lost() -> None:
    page = f"""<body>{_FRAME}<main><nav class="breadcrumbs"><a href="/">Crumb</a></nav> tail of it
    {_TEXT}</main> stray words {_FOOTER}</body>"""
    text, left_out = _read(page)
    everything = sorted(extract_visible_text(parse_html(page)).split())
    assert sorted(f"{text} {left_out}".split()) == everything
    assert "tail of it" in text


@pytest.mark.parametrize(
    "kept",
    [
        '<aside class="admonition note"><p>Mind the <a href="/gap">gap</a> at all times.</p></aside>',
        '<aside class="sidebar"><p>A box beside the text, with a thought of its own.</p></aside>',
        '<div class="alert alert-warning">Careful, this <a href="/x">may break</a> things.</div>',
        '<section id="cookies"><h2>Cookies</h2><p>Cookies are small files on a machine.</p></section>',
        '<section id="pagination"><h2>Pagination</h2><p>Lists may be cut into pages.</p></section>',
        '<div class="toctree-wrapper"><ul><li><a href="/one">Chapter one</a></li></ul></div>',
        "<p>You may <a href='/e'>edit this page</a> if you find a fault.</p>",
        "<header><p>A foreword of the article itself.</p></header>",
        "<footer><p>Notes of the author at the end of the article, with his thanks.</p></footer>",
        '<ul><li><a href="/one">One</a></li><li><a href="/two">Two</a></li></ul>',
        '<div class="menu"><p>A menu bar shows the commands of a program in rows.</p></div>',
    ],
)
def test_words_of_the_article_are_kept(kept: str) -> None:
    text, _ = _read(f"<body>{_FRAME}<main>{_TEXT}{kept}</main>{_FOOTER}</body>")
    assert extract_visible_text(parse_html(kept)) in text


def test_a_page_without_a_main_part_is_read_whole_but_for_its_frame() -> None:
    text, left_out = _read(
        f"""<body>{_FRAME}<div class="sidebar"><ul><li><a href="/a">A</a></li><li><a href="/b">B</a>
        </li></ul></div><table><tr><td>{_TEXT}</td></tr></table><div><p>More words on it.</p></div>
        {_FOOTER}</body>"""
    )
    assert text == "Title\nFirst words.\nLast words.\nMore words on it."
    assert "Page A" in left_out
    assert "Imprint" in left_out


def test_a_main_part_that_holds_the_least_of_the_words_is_not_believed() -> None:
    story = "<p>Here the story is told, with many words and no end in sight.</p>" * 5
    text, _ = _read(f"<body><main><h1>Loading</h1></main><div>{story}</div></body>")
    assert "the story is told" in text
    assert "Loading" in text


def test_several_articles_are_read_together() -> None:
    text, _ = _read(
        "<body><nav><a href=x>Nav</a></nav><div><article><h2>One</h2><p>First.</p></article>"
        "<article><h2>Two</h2><p>Second.</p></article></div></body>"
    )
    assert text == "One\nFirst.\nTwo\nSecond."


def test_a_page_without_body_tags_is_read() -> None:
    text, left_out = _read(f"<!doctype html><title>T</title>{_FRAME}<main>{_TEXT}</main>{_FOOTER}")
    assert text == "Title\nFirst words.\nLast words."
    assert "Page A" in left_out


@pytest.mark.parametrize(
    ("page", "title"),
    [
        ("<title>Window | Site</title><main><h1>Own <a href='#o'>#</a></h1></main>", "Own"),
        ("<title>Own | Site</title><h1>Own</h1><div class='entry-content'><p>x</p></div>", "Own"),
        ("<title>Own - Site</title><h1>Site</h1><main><p>words here</p></main>", ""),
        ("<head><meta property='og:title' content='Open'></head><main><p>x</p></main>", "Open"),
        ("<main><h1 hidden>Not seen</h1><h1>Seen</h1></main>", "Seen"),
    ],
)
def test_the_title_is_what_the_page_calls_itself(page: str, title: str) -> None:
    root = parse_html(f"<html>{page}</html>")
    assert find_title(root, extract_main_content(root)) == title


def test_a_list_of_links_that_is_named_navigation_by_its_id_is_left_out(tmp_path: Path) -> None:
    page = tmp_path / "wind.html"
    page.write_text(
        '<title>Wind</title><body><div id="nav"><ul><li><a href="a.html">Home</a></li></ul></div>'
        '<h1>Wind</h1><p id="nav-words">Wind is moving air.</p></body>'
    )
    (source,) = HtmlFolderReader().read(str(page), title=None, base_url=None).documents
    document = source.read()
    assert document.text == "Wind\n\nWind is moving air."
    assert [(part.reason, part.text) for part in document.left_out] == [("navigation", "Home")]
