"""Hugo: order, addresses, chapters and what its shortcodes show."""

import json
from pathlib import Path
from textwrap import dedent

import pytest

from bythebook.adapters.readers.markdown.reader import MarkdownReader
from bythebook.domain.books import BlockKind, Document, SourceBook

SITE = {
    "hugo.toml": 'title = "Robots"\n[params]\nversion = "v1.30"\n',
    "content/en/docs/_index.md": "---\ntitle: Documentation\n---\n\nAll.\n",
    "content/en/docs/walking/_index.md": "---\ntitle: On walking\nweight: 20\n---\n\nText.\n",
    "content/en/docs/walking/Some Gaits.md": "---\ntitle: Gaits\nweight: 30\n---\n\nText.\n",
    "content/en/docs/walking/balance.md": "+++\ntitle = 'Balance'\nweight = 40\n+++\n\nText.\n",
    "content/en/docs/walking/poise.md": '{\n"title": "Poise",\n"slug": "stance"\n}\n\nText.\n',
    "content/en/docs/walking/feet/index.md": "---\ntitle: Feet\nweight: 20\n---\n\nText.\n",
    "content/en/docs/arms/_index.md": "---\ntitle: Arms\nweight: 10\n---\n",
    "content/en/docs/arms/grip.md": "---\ntitle: Grip\nurl: /hold/\naliases: [old-grip]\n---\n\nText.\n",
    "content/en/docs/arms/secret.md": "---\ntitle: Secret\ndraft: true\n---\n\nText.\n",
    "content/en/docs/arms/parts/_index.md": "---\nheadless: true\n---\n",
    "content/en/docs/arms/parts/part.md": "A shared part.\n",
}


def make(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


def read(folder: Path) -> SourceBook:
    return MarkdownReader().read(str(folder), title=None, base_url="https://robots.test/book")


def pages(book: SourceBook) -> list[Document]:
    return [document.read() for document in book.documents]


def page(folder: Path, body: str, more: dict[str, str] | None = None) -> Document:
    """Read one page of a site."""
    own = {
        "content/docs/_index.md": "",
        "content/docs/page.md": f"---\ntitle: Page\n---\n{dedent(body)}",
    }
    found = pages(read(make(folder, {"hugo.toml": ""} | own | (more or {}))))
    return next(document for document in found if document.document_id == "docs/page")


def read_text(
    folder: Path, body: str, more: dict[str, str] | None = None
) -> list[tuple[BlockKind, str]]:
    document = page(folder, body, more)
    return [(b.kind, document.text[b.start : b.end]) for b in document.blocks][1:]


# Order, addresses, chapters


def test_pages_stand_by_weight_then_title_with_pretty_addresses(tmp_path: Path) -> None:
    book = read(make(tmp_path, SITE))
    assert (book.reader, book.title) == ("Hugo", "Robots")
    assert [(d.document_id, d.url) for d in pages(book)] == [
        ("docs", "https://robots.test/book/docs/"),
        ("docs/arms", "https://robots.test/book/docs/arms/"),
        ("hold", "https://robots.test/book/hold/"),
        ("docs/walking", "https://robots.test/book/docs/walking/"),
        ("docs/walking/feet", "https://robots.test/book/docs/walking/feet/"),
        ("docs/walking/some-gaits", "https://robots.test/book/docs/walking/some-gaits/"),
        ("docs/walking/balance", "https://robots.test/book/docs/walking/balance/"),
        ("docs/walking/stance", "https://robots.test/book/docs/walking/stance/"),
    ]


def test_chapters_are_the_sections_below_what_all_pages_share(tmp_path: Path) -> None:
    chapters = [document.chapter for document in pages(read(make(tmp_path, SITE)))]
    assert chapters == ["Documentation", "Arms", "Arms", *["On walking"] * 5]


@pytest.mark.parametrize(
    "config", ["hugo.yaml", "hugo.json", "config.toml", "config/_default/hugo.toml"]
)
def test_a_site_is_known_by_its_settings(tmp_path: Path, config: str) -> None:
    text = {"toml": 'title = "T"', "yaml": "title: T", "json": json.dumps({"title": "T"})}
    files = {config: text[config.rpartition(".")[2]], "content/a.md": "# A\n\nText.\n"}
    book = read(make(tmp_path, files))
    assert (book.reader, book.title) == ("Hugo", "T")


def test_a_site_is_known_by_its_section_pages(tmp_path: Path) -> None:
    files = {"content/a/_index.md": "---\ntitle: A\n---\n", "content/a/b.md": "# B\n\nText.\n"}
    assert read(make(tmp_path, files)).reader == "Hugo"
    assert read(tmp_path / "content").reader == "Hugo"


def test_one_language_is_read_and_the_others_are_named(tmp_path: Path) -> None:
    files = {"hugo.toml": 'defaultContentLanguage = "de"\n', "content/de/a.md": "# A\n\nText.\n",
             "content/en/b.md": "# B\n\nText.\n", "content/fr/b.md": "# B\n\nText.\n"}  # fmt: skip
    book = read(make(tmp_path, files))
    assert [document.document_id for document in book.documents] == ["a"]
    assert book.warnings == ("Only content/de was read, without the pages in en, fr.",)


def test_a_title_stands_above_the_pages_own_headings(tmp_path: Path) -> None:
    document = page(tmp_path, "\n# Walking on\n\nText.\n\n## Gaits {#my-gaits}\n\nMore.\n")
    assert document.text == "Page\n\nWalking on\n\nText.\n\nGaits\n\nMore."
    assert [section.anchor for section in document.sections] == ["", "walking-on", "my-gaits"]


def test_anchors_are_made_as_the_settings_or_else_the_links_say(tmp_path: Path) -> None:
    body = "\n## What's next: a/b\n\nText. [x](#what-s-next-a-b)\n"
    setting = "[markup.goldmark.parser]\nautoHeadingIDType = 'blackfriday'\n"
    usual = page(tmp_path / "a", body, {"hugo.toml": "title = 'Robots'\n"})
    assert usual.sections[1].anchor == "whats-next-ab"
    by_setting = page(tmp_path / "b", body, {"hugo.toml": setting})
    assert by_setting.sections[1].anchor == "what-s-next-a-b"
    (tmp_path / "a" / "hugo.toml").unlink()
    by_links = pages(read(tmp_path / "a"))[1]
    assert by_links.sections[1].anchor == "what-s-next-a-b"


# Shortcodes


@pytest.mark.parametrize(
    ("opening", "closing", "label"),
    [
        ("{{< note >}}", "{{< /note >}}", "Note:"),
        ("{{<warning>}}", "{{</warning>}}", "Warning:"),
        ('{{% alert title="Hot motors" color="x" %}}', "{{% /alert %}}", "Hot motors"),
        ('{{% tab name="Linux" %}}', "{{% /tab %}}", "Linux"),
        ('{{< details summary="More on it" >}}', "{{< /details >}}", "More on it"),
        ('{{< unheard "Read this" >}}', "{{< /unheard >}}", "Read this"),
    ],
)
def test_a_pair_keeps_its_text_under_its_label(
    tmp_path: Path, opening: str, closing: str, label: str
) -> None:
    assert read_text(tmp_path, f"\nBefore.\n{opening}\nInner **words**.\n{closing}\nAfter.\n") == [
        ("paragraph", "Before."),
        ("paragraph", label),
        ("paragraph", "Inner words."),
        ("paragraph", "After."),
    ]


def test_a_note_below_many_fences_keeps_its_label(tmp_path: Path) -> None:
    body = "\n" + "```\na\n```\n" * 9 + "{{< note >}}\nMind it.\n{{< /note >}}\n```\nb\n```\n"
    assert read_text(tmp_path, body) == [
        *[("code", "a")] * 9,
        ("paragraph", "Note:"),
        ("paragraph", "Mind it."),
        ("code", "b"),
    ]


def test_a_note_in_a_list_item_stays_in_it(tmp_path: Path) -> None:
    body = "\n1. One\n   {{< note >}}\n   Mind it.\n   {{< /note >}}\n1. Two\n"
    assert read_text(tmp_path, body) == [("list", "One\nNote:\nMind it.\nTwo")]


def test_tabs_show_the_names_of_the_tabs_only(tmp_path: Path) -> None:
    body = """
        {{< tabs name="tab_group" >}}
        {{< tab name="Bash" codelang="bash" >}}
        echo <hi>
        {{< /tab >}}
        {{< tab name="Zsh" include="parts/zsh.md" />}}
        {{< /tabs >}}
        """
    more = {"content/docs/parts/_index.md": "---\nheadless: true\n---\n",
            "content/docs/parts/zsh.md": "---\ntitle: x\n---\nFor *zsh*.\n"}  # fmt: skip
    assert read_text(tmp_path, body, more) == [
        ("paragraph", "Bash"),
        ("code", "echo <hi>"),
        ("paragraph", "Zsh"),
        ("paragraph", "For zsh."),
    ]


@pytest.mark.parametrize("name", ["highlight yaml", "mermaid", 'code lang="yaml"'])
def test_highlighted_text_is_code(tmp_path: Path, name: str) -> None:
    body = f"\n{{{{< {name} >}}}}\na: *b*\n\n  c: `d`\n{{{{< /{name.split()[0]} >}}}}\n"
    assert read_text(tmp_path, body) == [("code", "a: *b*\n\n  c: `d`")]


def test_inline_highlights_stay_in_their_sentence(tmp_path: Path) -> None:
    body = '\nUse {{< highlight promql "hl_inline=true" >}}sum(x){{< /highlight >}} there.\n'
    assert read_text(tmp_path, body) == [("paragraph", "Use sum(x) there.")]


def test_a_comment_is_not_shown(tmp_path: Path) -> None:
    body = "\nA.\n\n{{< comment >}}\nHidden {{< note >}}x{{< /note >}}\n{{< /comment >}}\n\nB.\n"
    assert read_text(tmp_path, body) == [("paragraph", "A."), ("paragraph", "B.")]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ('{{< glossary_tooltip text="a leg" term_id="leg" >}}', "a leg"),
        ('{{< glossary_tooltip term_id="hind-leg" >}}', "hind leg"),
        ('{{< feature-state for_k8s_version="v1.28" state="stable" >}}', "FEATURE STATE: Kubernetes v1.28 [stable]"),
        ('{{< feature-state feature_gate_name="Walk" >}}', "FEATURE STATE: Walk"),
        ('{{< param "version" >}}', "v1.30"),
        ("{{< skew currentVersion >}}", "1.30"),
        ("{{< skew currentVersionAddMinor -2 >}}", "1.28"),
        ("{{< skew currentPatchVersion >}}", "[current-patch-version]"),
        ('{{< link text="services" url="/docs/" >}}', "services"),
        ('{{< unheard title="Legs and feet" id="x1" >}}', "Legs and feet"),
        ('{{< unheard id="x1" >}}', ""),
        ('{{< unheard "unended >}}', ""),
    ],
)  # fmt: skip
def test_a_single_shortcode_shows_what_is_known(tmp_path: Path, code: str, words: str) -> None:
    more = {"hugo.toml": '[params]\nversion = "v1.30"\n'}
    assert read_text(tmp_path, f"\nSee {code} here.\n", more) == [
        ("paragraph", f"See {words} here.")
    ]


def test_a_shortcode_in_code_is_replaced_and_an_escaped_one_is_shown(tmp_path: Path) -> None:
    body = "\n```\nv{{< skew currentVersion >}} {{</* note */>}}\n{{< note >}}\n```\n"
    assert read_text(tmp_path, body) == [("code", "v[current-version] {{< note >}}")]


def test_headings_by_key_are_spelt_out(tmp_path: Path) -> None:
    body = '\n## {{% heading "whatsnext" %}}\n\nA.\n\n## {{% heading "objectives" %}}\n\nB.\n'
    titles = [section.title for section in page(tmp_path, body).sections]
    assert titles == ["Page", "What's next", "Objectives"]


def test_a_figure_shows_its_words(tmp_path: Path) -> None:
    body = '\n{{< figure src="x.png" alt="A leg" title="Leg" caption="It [walks](/docs/)." >}}\n'
    assert read_text(tmp_path, body) == [
        ("caption", "A leg"),
        ("paragraph", "Leg"),
        ("paragraph", "It walks."),
    ]


def test_what_the_book_holds_is_included(tmp_path: Path) -> None:
    body = """
        {{< include "prereqs.md" >}}

        {{% code_sample file="walk.yaml" %}}

        {{< glossary_definition term_id="leg" length="short" prepend="A leg is" >}}
        """
    more = {
        "content/includes/prereqs.md": "---\nheadless: true\n---\nNeed {{< unheard text=\"a robot\" >}}.\n",
        "content/examples/walk.yaml": "legs: 2\n",
        "content/docs/glossary/leg.md": "---\ntitle: Leg\nheadless: true\n---\na limb.\n\n<!--more-->\nLong.\n",
    }  # fmt: skip
    assert read_text(tmp_path, body, more) == [
        ("paragraph", "Need a robot."),
        ("paragraph", "walk.yaml"),
        ("code", "legs: 2"),
        ("paragraph", "A leg is a limb."),
    ]


def test_what_the_book_does_not_hold_is_named(tmp_path: Path) -> None:
    body = """
        A.

        {{< include "../../../secret.md" >}}

        {{% code_sample file="gone.yaml" %}}

        {{< theme-text >}}
        """
    (tmp_path / "secret.md").write_text("Secret.")
    assert read_text(tmp_path / "site", body) == [("paragraph", "A."), ("paragraph", "gone.yaml")]
    assert read(tmp_path / "site").warnings == (
        "docs/page.md includes ../../../secret.md, which does not exist.",
        "docs/page.md includes gone.yaml, which does not exist.",
        "Shortcodes that only the site's theme can render: theme-text (1).",
    )


def test_a_page_has_changed_when_what_it_includes_has(tmp_path: Path) -> None:
    more = {"content/includes/a.md": "---\nheadless: true\n---\nOne.\n"}
    page(tmp_path, '\n{{< include "a.md" >}}\n', more)
    before = [document.fingerprint for document in read(tmp_path).documents]
    (tmp_path / "content" / "includes" / "a.md").write_text("---\nheadless: true\n---\nTwo.\n")
    after = [document.fingerprint for document in read(tmp_path).documents]
    assert [old == new for old, new in zip(before, after, strict=True)] == [True, False]


def test_thousands_of_open_shortcodes_take_no_time(tmp_path: Path) -> None:
    body = "\nA.\n\n" + "{{< note >}}" * 2000 + "x" + "{{< /note >}}" * 2000
    assert any("x" in text for _, text in read_text(tmp_path / "a", body))
    site = {"hugo.toml": "", "content/a.md": '{{< a "' * 100_000, "content/b.md": "Text.\n"}
    book = read(make(tmp_path / "b", site))
    assert [(part.name, part.reason) for part in book.skipped] == [
        ("a.md", "It has more than 5,000 shortcodes.")
    ]


# Links


def test_links_are_broken_only_where_the_book_is_whole(tmp_path: Path) -> None:
    body = """
        [a](/docs/arms/grip/) [b](grip.md) [c]({{< relref "grip.md" >}}) [d](/docs/arms/old-grip/)
        [e](../) [f](/docs/arms/gone/) [g](/docs/reference/) [h](/blog/x/) [i](/docs/arms/leg.png)
        [j](/docs/arms) [k](/book/docs/arms/grip/#x)
        """
    files = {
        "hugo.toml": "",
        "content/docs/arms/_index.md": "---\ntitle: Arms\n---\n",
        "content/docs/arms/grip.md": "---\naliases: [old-grip]\n---\nText.\n",
        "content/docs/arms/links.md": dedent(body),
        "content/docs/legs/_index.md": "Text.\n",
        "content/docs/legs/feet.md": "Text.\n",
    }
    found = {d.document_id: d for d in pages(read(make(tmp_path, files)))}["docs/arms/links"]
    assert [(link.target, link.document_id) for link in found.links] == [
        ("/docs/arms/grip/", "docs/arms/grip"),
        ("grip.md", "docs/arms/grip"),
        ("/docs/arms/old-grip/", "docs/arms/grip"),
        ("../", "docs/arms"),
        ("/docs/arms/gone/", ""),
        ("/docs/arms", "docs/arms"),
        ("/book/docs/arms/grip/#x", "docs/arms/grip"),
    ]
