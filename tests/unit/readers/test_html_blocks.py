"""HTML elements as typed blocks: what a person sees, once, in order."""

from collections.abc import Callable

import pytest

from bythebook.adapters.readers.html.page.blocks import add_blocks, split_blocks
from bythebook.adapters.readers.html.page.parse import parse_html, parse_xhtml
from bythebook.adapters.readers.html.page.visible import extract_visible_text
from bythebook.adapters.readers.page_targets import PageTargets
from bythebook.adapters.readers.plain_text import PlainText
from bythebook.domain.books import Link
from bythebook.errors import UnreadableBook


def _read(page: str | bytes) -> PlainText:
    plain = PlainText()
    add_blocks(plain, parse_html(page), targets=PageTargets(lambda href: Link(href, "there")))
    return plain


def _blocks(page: str | bytes) -> list[tuple[str, str]]:
    plain = _read(page)
    return [(block.kind, plain.text[block.start : block.end]) for block in plain.blocks]


@pytest.mark.parametrize(
    ("page", "blocks"),
    [
        ("<p>one  two\n three</p>", [("paragraph", "one two three")]),
        ("<div>a<p>b</p>c</div>", [("paragraph", "a"), ("paragraph", "b"), ("paragraph", "c")]),
        ("<p>a<br>b</p>", [("paragraph", "a\nb")]),
        ("<p>a<br><br>b</p>", [("paragraph", "a"), ("paragraph", "b")]),
        ("<p>w<b>or</b>d, ex\u00adample</p>", [("paragraph", "word, example")]),
        ("<ul><li>a<ul><li>b</ul><li>c</ul>", [("list", "a\nb\nc")]),
        (
            "<ol><li>a<pre>x\n y</pre><p>b<li>c</ol>",
            [("list", "a"), ("code", "x\n y"), ("list", "b\nc")],
        ),
        ("<dl><dt>T<dd>d<dd>e<dt>U<dd></dl>", [("list", "T: d\ne\nU")]),
        (
            "<table><caption>C</caption><thead><tr><th>a<th>b<tbody><tr><td>1<td>2<br>3</table>",
            [("caption", "C"), ("table", "a | b\n1 | 2 3")],
        ),
        (
            "<table><tr><td><h2>H</h2>t<td><table><tr><td>a<td>b</table></table>",
            [("heading", "H"), ("paragraph", "t"), ("table", "a | b")],
        ),
        (
            "<figure><img alt='A cat'><figcaption>Fig. 1</figcaption></figure>",
            [("caption", "A cat"), ("caption", "Fig. 1")],
        ),
        ("<p>see <img alt='x'> here</p>", [("paragraph", "see x here")]),
        ("<blockquote><p>q</p></blockquote>", [("paragraph", "q")]),
        (
            "<details><summary>S</summary>d</details>",
            [("paragraph", "S"), ("paragraph", "d")],
        ),
        (
            "<p>10<sup>6</sup>, H<sub>2</sub>O, 1<sup>st</sup></p>",
            [("paragraph", "10^6, H2O, 1st")],
        ),
        (
            "<p><ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby></p>",
            [("paragraph", "漢(kan)")],
        ),
        ("<svg><text>in <tspan>it</tspan></text></svg>", [("caption", "in it")]),
        (
            "<div><div>April is the cruellest month</div><div>breeding</div></div>",
            [("paragraph", "April is the cruellest month\nbreeding")],
        ),
        (
            "<div><div><div>a</div><div>b</div></div><div><div>c</div><div>d</div></div></div>",
            [("paragraph", "a\nb"), ("paragraph", "c\nd")],
        ),
        (
            "<p>n<a epub:type='noteref' href='#f'>1</a></p><aside id='f'>Note.</aside>",
            [("paragraph", "n1"), ("paragraph", "Note.")],
        ),
    ],
)
def test_elements_become_typed_blocks(page: str, blocks: list[tuple[str, str]]) -> None:
    assert _blocks(page) == blocks


@pytest.mark.parametrize(
    "unseen",
    [
        "<script>x</script>",
        "<style>x</style>",
        "<template>x</template>",
        "<noscript>x</noscript>",
        "<iframe>x</iframe>",
        "<!-- x -->",
        "<p hidden>x</p>",
        "<p style='color: red; display:none'>x</p>",
        "<dialog>x</dialog>",
    ],
)
def test_what_no_one_sees_is_not_read(unseen: str) -> None:
    assert _blocks(f"<p>a</p>{unseen}<p>b</p>") == [("paragraph", "a"), ("paragraph", "b")]


def test_the_other_tabs_of_a_page_are_read() -> None:
    page = "<div role=tabpanel>npm</div><div role=tabpanel hidden>yarn</div>"
    assert [text for _kind, text in _blocks(page)] == ["npm", "yarn"]


@pytest.mark.parametrize(
    "heading",
    [
        "<h2 id=x>T</h2>",
        "<section id=x><h2>T</h2></section>",
        "<h2><a id=x></a>T</h2>",
        "<a name=x></a><h2>T</h2>",
        "<h2 id=x>T<a class=hash-link href=#x aria-label='Direct link to T'>#</a></h2>",
        "<h2 id=x>T<a class=headerlink href=#x title='Permalink'>¶</a></h2>",
        "<h2 id=x><a class=header href=#x>T</a></h2>",
        "<div role=heading aria-level=2 id=x>T</div>",
    ],
)
def test_a_heading_has_its_anchor_and_no_sign_of_it(heading: str) -> None:
    plain = _read(f"<p>before</p>{heading}<p>after</p>")
    assert [(each.title, each.level, each.anchor) for each in plain.headings] == [("T", 2, "x")]
    assert "x" in plain.anchors
    assert plain.text == "before\n\nT\n\nafter"


def test_an_id_far_above_is_no_anchor_of_a_heading() -> None:
    assert _read("<section id=x><p>words</p><h2>T</h2></section>").headings[0].anchor is None


@pytest.mark.parametrize(
    ("page", "code", "language"),
    [
        ("<pre><code class=language-js>a\n  b\n</code></pre>", "a\n  b", "js"),
        ("<div class='highlight-python'><pre><span></span>x = 1\n</pre></div>", "x = 1", "python"),
        (
            (
                "<pre><code><span class=token-line>a<br></span><span class=token-line><br></span>"
                "<span class=token-line>b<br></span></code></pre>"
            ),
            "a\n\nb",
            "",
        ),
        ("<pre><span class=line>a</span>\n<span class=line>b</span></pre>", "a\nb", ""),
        ("<pre><div>a</div><div>b</div></pre>", "a\nb", ""),
        ("<pre><span class=linenos>1</span>a\n<span class=linenos>2</span>b</pre>", "a\nb", ""),
        (
            (
                "<table class=highlighttable><tr><td class=linenos><pre>1\n2</pre>"
                "<td class=code><pre>a\nb</pre></table>"
            ),
            "a\nb",
            "",
        ),
        ("<pre>a<button>Copy</button></pre>", "a", ""),
    ],
)
def test_code_keeps_its_lines(page: str, code: str, language: str) -> None:
    plain = _read(page)
    assert plain.text == code
    assert [(block.kind, block.language) for block in plain.blocks] == [("code", language)]


_MATHML = (
    "<math><semantics><mrow><mi>x</mi><mn>2</mn></mrow>"
    "<annotation encoding='application/x-tex'>x^2</annotation></semantics></math>"
)


@pytest.mark.parametrize(
    ("page", "blocks"),
    [
        (f"<p>if {_MATHML} holds</p>", [("paragraph", "if $x^2$ holds")]),
        (
            (
                f"<p>if <span class=katex><span class=katex-mathml>{_MATHML}</span>"
                "<span class=katex-html aria-hidden=true>x2</span></span></p>"
            ),
            [("paragraph", "if $x^2$")],
        ),
        (
            f"<p>so<span class=katex-display><span class=katex>{_MATHML}</span></span>then</p>",
            [("paragraph", "so"), ("formula", "x^2"), ("paragraph", "then")],
        ),
        (
            (
                "<p>a <span class=MathJax_Preview>x2</span><span class=MathJax>x2</span>"
                "<script type='math/tex'>x^2</script></p>"
            ),
            [("paragraph", "a $x^2$")],
        ),
        (
            "<p>a</p><script type='math/tex; mode=display'>x^2</script>",
            [("paragraph", "a"), ("formula", "x^2")],
        ),
        (
            f"<mjx-container display=true><mjx-math>x2</mjx-math>{_MATHML}</mjx-container>",
            [("formula", "x^2")],
        ),
        ("<span class='math notranslate'>\\(x^2\\)</span>", [("formula", "x^2")]),
        ("<div class=math>\\[x^2\\]</div>", [("formula", "x^2")]),
        (
            (
                "<p><math><mfrac><mi>a</mi><mrow><mi>b</mi><mo>+</mo><mn>1</mn></mrow></mfrac>"
                "<mo>=</mo><msub><mi>c</mi><mn>1</mn></msub></math></p>"
            ),
            [("formula", "a/(b + 1) = c_1")],
        ),
        (
            (
                "<p>A <math><mo>[</mo><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mo>−</mo><mn>2</mn></mtd>"
                "</mtr><mtr><mtd><mn>3</mn></mtd></mtr></mtable><mo>]</mo></math></p>"
            ),
            [("paragraph", "A [1 −2; 3]")],
        ),
    ],
)
def test_a_formula_is_told_once(page: str, blocks: list[tuple[str, str]]) -> None:
    assert _blocks(page) == blocks


def test_controls_and_text_for_screen_readers_are_left_out_and_reported() -> None:
    plain = _read("<p>a <span class=sr-only>heard</span></p><button>Copy</button>")
    assert plain.text == "a"
    assert [left.text for left in plain.left_out] == ["heard", "Copy"]


def test_links_are_resolved_in_order() -> None:
    assert _read("<p><a href='x#y'>l</a></p>").links == [Link("x#y", "there")]


def test_a_text_is_cut_at_ids_and_nothing_is_lost() -> None:
    page = (
        "<h1>B</h1><section id=c1><h2>One</h2><p>a</p></section><h2><a id=c2></a>Two</h2><p>b</p>"
    )
    pieces = split_blocks(parse_html(page), ["c1", "c2"], targets=PageTargets())
    assert {cut: plain.text for cut, plain in pieces.items()} == {
        "": "B",
        "c1": "One\n\na",
        "c2": "Two\n\nb",
    }


@pytest.mark.parametrize("tag", ["div", "span", "ul", "blockquote", "b"])
@pytest.mark.parametrize("parse", [parse_html, parse_xhtml])
def test_elements_nested_too_deep_are_refused(tag: str, parse: Callable[[str], object]) -> None:
    page = f"<html><body>{f'<{tag}>' * 100_000}x{f'</{tag}>' * 100_000}</body></html>"
    with pytest.raises(UnreadableBook, match="too deep"):
        parse(page)


def test_a_thousand_levels_are_read() -> None:
    assert _read("<div>" * 1000 + "deep" + "</div>" * 1000).text == "deep"


def test_a_tag_of_endless_attributes_takes_no_time() -> None:
    attributes = " ".join(f"a{number}" for number in range(200_000))
    assert _read(f"<p {attributes}>x</p>").text == "x"


def test_a_page_of_too_many_elements_is_refused() -> None:
    with pytest.raises(UnreadableBook, match="too many elements"):
        parse_html("<b></b>" * 700_000)


@pytest.mark.parametrize("page", ["", " ", "\0", "<", "<!--", "<!DOCTYPE html>", "words only"])
def test_any_text_parses_or_is_refused(page: str) -> None:
    try:
        text = _read(page).text
    except UnreadableBook:
        return
    assert len(text) <= len(page)


@pytest.mark.parametrize(
    ("page", "encoding"),
    [
        ("<p>naïve</p>".encode(), None),
        ("<meta charset=iso-8859-1><p>naïve</p>".encode("latin-1"), None),
        ("<p>naïve</p>".encode("utf-16"), None),
        ("<p>naïve</p>".encode("cp1252"), None),
        ("<p>naïve</p>".encode("cp1252"), "no-such-codec"),
        ("<meta charset=utf-8><p>naïve</p>".encode("latin-1"), "latin-1"),
    ],
)
def test_pages_are_decoded_by_what_fits(page: bytes, encoding: str | None) -> None:
    assert extract_visible_text(parse_html(page, encoding=encoding)) == "naïve"


def test_named_characters_of_xhtml_are_themselves() -> None:
    page = "<html xmlns='x'><p>a&nbsp;b&hellip; &lt;&amp; <![CDATA[c < d]]></p></html>"
    assert extract_visible_text(parse_xhtml(page)) == "a b… <& c < d"


def test_broken_xhtml_is_read_as_html_and_empty_elements_stay_empty() -> None:
    page = "<html><head><title/><script src='x'/></head><body><p>a<br>b & c</p></body></html>"
    assert extract_visible_text(parse_xhtml(page)) == "a\nb & c"


@pytest.mark.parametrize("shield", ["", "<!-- <!DOCTYPE x> -->"])
def test_no_entity_is_expanded_or_fetched(shield: str) -> None:
    page = f"""{shield}<!DOCTYPE html [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">
    <!ENTITY x SYSTEM "file:///etc/passwd">]><html><body><p title="&b;">begin &b; &x; end</p></body></html>"""
    text = extract_visible_text(parse_xhtml(page))
    assert "begin" in text
    assert "end" in text
    assert "aaaa" not in text.replace('"aaaa"', "")
    assert "root:" not in text
