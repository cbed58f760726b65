"""Folders of HTML files, as generators build them."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from bythebook.adapters.readers.html.folder import HtmlFolderReader
from bythebook.domain.books import Document, Link, SourceBook
from bythebook.errors import UnreadableBook


def _write(root: Path, pages: Mapping[str, str]) -> Path:
    for name, content in pages.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")
    return root


def _page(title: str, text: str = "", around: str = "") -> str:
    return (
        f"<html><head><title>{title} - The Book</title></head><body>{around}<main><h1>{title}</h1>"
        f"<p>{text or f'Words on {title}.'}</p></main></body></html>"
    )


def _read(path: Path, base_url: str | None = None) -> SourceBook:
    return HtmlFolderReader().read(str(path), title=None, base_url=base_url)


def _documents(book: SourceBook) -> list[Document]:
    return [document.read() for document in book.documents]


def test_a_folder_without_menus_is_read_by_names(tmp_path: Path) -> None:
    _write(
        tmp_path,
        {"ch10.html": _page("Ten"), "ch2.html": _page("Two"), "more/x.htm": _page("X"),
         "index.html": _page("Start"), "_static/y.html": _page("Y"), "notes.txt": "none"},
    )  # fmt: skip
    book = _read(tmp_path, "https://example.org/book")
    read = _documents(book)
    assert [(one.document_id, one.chapter, one.url) for one in read] == [
        ("index", "Start", "https://example.org/book/"),
        ("ch2", "Two", "https://example.org/book/ch2.html"),
        ("ch10", "Ten", "https://example.org/book/ch10.html"),
        ("more/x", "More", "https://example.org/book/more/x.htm"),
    ]
    assert read[1].text == "Two\n\nWords on Two."
    assert (book.title, book.reader) == ("The Book", "HTML folder")
    assert book.base_url == "https://example.org/book/"


def test_the_menu_gives_the_order(tmp_path: Path) -> None:
    menu = """<nav class="sidebar"><h3>Part B</h3><ul><li><a href="z.html">Z</a></li></ul>
    <h3>Part A</h3><ul><li><a href="b.html">B</a></li><li><a href="a.html">A</a></li></ul></nav>"""
    pages = {f"{name}.html": _page(name.upper(), around=menu) for name in "abz"}
    book = _read(_write(tmp_path, pages | {"index.html": _page("Start", around=menu)}))
    assert [(one.document_id, one.chapter) for one in _documents(book)] == [
        ("index", "Start"),
        ("z", "Part B"),
        ("b", "Part A"),
        ("a", "Part A"),
    ]


def test_menus_that_show_one_branch_each_are_merged(tmp_path: Path) -> None:
    def menu(opened: str) -> str:
        items = ""
        for group in ("two", "one", "three"):
            inner = "".join(f'<li><a href="/{group}/{page}">{page}</a></li>' for page in "ba")
            inner = f"<ul>{inner}</ul>" if group == opened else ""
            items += f'<li><div><a href="/{group}/">{group}</a><button>+</button></div>{inner}</li>'
        return f'<aside><nav class="menu"><ul class="menu__list">{items}</ul></nav></aside>'

    pages = {"index.html": _page("Start", around=menu(""))}
    for group in ("one", "two", "three"):
        pages[f"{group}/index.html"] = _page(group.title(), around=menu(group))
        pages |= {
            f"{group}/{page}.html": _page(f"{group} {page}", around=menu(group)) for page in "ab"
        }
    read = _documents(_read(_write(tmp_path, pages)))
    assert [one.document_id for one in read] == [
        "index", "two", "two/b", "two/a", "one", "one/b", "one/a", "three", "three/b", "three/a",
    ]  # fmt: skip
    assert [one.chapter for one in read[1:4]] == ["Two"] * 3


def test_a_folder_that_holds_all_pages_is_no_chapter(tmp_path: Path) -> None:
    menu = """<nav><ul><li><a href="/docs/">Start</a></li><li><a href="/docs/deep/">Deep</a></li>
    <li><a href="/docs/glossary">Glossary</a></li></ul></nav>"""
    names = {"": "Start", "deep/": "Deep", "deep/down/": "Down", "glossary/": "Glossary"}
    _write(
        tmp_path,
        {f"docs/{name}index.html": _page(title, around=menu) for name, title in names.items()},
    )
    assert [(one.document_id, one.chapter) for one in _documents(_read(tmp_path))] == [
        ("docs", "Start"),
        ("docs/deep", "Deep"),
        ("docs/glossary", "Glossary"),
        ("docs/deep/down", "Deep"),
    ]


def test_a_contents_page_is_a_menu_where_there_is_none(tmp_path: Path) -> None:
    contents = '<ul><li><a href="end.html">1</a></li><li><a href="begin.html">2</a></li></ul>'
    _write(
        tmp_path,
        {"index.html": _page("Start", contents), "begin.html": _page("B"), "end.html": _page("E")},
    )
    assert [one.document_id for one in _documents(_read(tmp_path))] == ["index", "end", "begin"]


def test_what_generators_make_beside_the_book_is_left_out(tmp_path: Path) -> None:
    generated = ["404.html", "genindex-A.html", "genindex.html", "print.html", "search.html"]
    pages = {name: _page(f"Generated {name}", "<h1>All</h1>") for name in generated}
    stub = '<meta http-equiv="refresh" content="0; url=new.html"><a href="new.html">moved</a>'
    _write(tmp_path, pages | {"index.html": _page("Start", '<a href="old.html">old</a>'),
           "new.html": _page("New"), "old.html": stub})  # fmt: skip
    book = _read(tmp_path)
    assert [one.document_id for one in book.documents] == ["index", "new"]
    assert book.documents[0].read().links == (Link("old.html", "new"),)
    (warning,) = book.warnings
    assert all(name in warning for name in [*generated, "old.html"])


def test_a_chapter_on_searching_is_part_of_the_book(tmp_path: Path) -> None:
    chapter = "To search is to look for something in many places, one by one. " * 20
    _write(tmp_path, {"index.html": _page("Start"), "search.html": _page("Search", chapter),
           "print.html": _page("Print", "How a line is put on paper.")})  # fmt: skip
    book = _read(tmp_path)
    assert [one.document_id for one in book.documents] == ["index", "print", "search"]
    assert not book.warnings


def test_a_page_that_is_there_twice_is_read_once(tmp_path: Path) -> None:
    text = "This is the first chapter, and as mdBook does it is the index as well. " * 5
    _write(tmp_path, {"index.html": _page("Start", text), "title.html": _page("Start", text),
           "b.html": _page("B", '<a href="title.html">to it</a>')})  # fmt: skip
    book = _read(tmp_path)
    assert [one.document_id for one in book.documents] == ["index", "b"]
    assert book.documents[1].read().links == (Link("title.html", "index"),)


def test_links_lead_to_documents_or_are_broken(tmp_path: Path) -> None:
    links = ["sub/", "sub/index.html#here", "/proj/sub/", "gone.html", "sub/#gone", "picture.png",
             "../above.html", "https://example.org/book/sub/", "https://other.example/", "#nowhere"]  # fmt: skip
    anchors = " ".join(f'<a href="{link}">x</a>' for link in links)
    _write(tmp_path, {"index.html": _page("Start", anchors), "picture.png": "",
           "sub/index.html": _page("Sub", '<span id="here">here</span>')})  # fmt: skip
    document = _read(tmp_path, "https://example.org/book").documents[0].read()
    assert document.links == (
        Link("sub/", "sub"),
        Link("sub/index.html#here", "sub", "here"),
        Link("/proj/sub/", "sub"),
        Link("gone.html", ""),
        Link("sub/#gone", "", "gone"),
        Link("https://example.org/book/sub/", "sub"),
        Link("#nowhere", "", "nowhere"),
    )


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.html").write_text(_page("Secret"))
    folder = _write(tmp_path / "book", {"index.html": _page("Start")})
    (folder / "link.html").symlink_to(tmp_path / "secret.html")
    (folder / "up").symlink_to(tmp_path)
    (folder / "loop.html").symlink_to(folder / "loop.html")
    (folder / "same.html").symlink_to(folder / "index.html")
    book = _read(folder)
    assert {one.document_id for one in book.documents} == {"index", "same"}
    assert {one.name for one in book.skipped} == {"link.html", "loop.html"}


def test_a_single_file_is_a_book(tmp_path: Path) -> None:
    path = tmp_path / "story.html"
    path.write_bytes("<meta charset='windows-1251'><h1>Повесть</h1><p>Слова.</p>".encode("cp1251"))
    book = _read(path, "https://example.org/story")
    document = book.documents[0].read()
    assert (book.title, book.reader, document.document_id) == ("Повесть", "HTML file", "story")
    assert document.text == "Повесть\n\nСлова."
    assert document.url == "https://example.org/story"


def test_a_page_without_a_heading_gets_its_title_as_one(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text("<title>A Title</title><p>Only words.</p><h2 id=x>Part</h2><p>More.</p>")
    document = _read(path).documents[0].read()
    assert document.text == "A Title\n\nOnly words.\n\nPart\n\nMore."
    assert [section.anchor for section in document.sections] == ["", "x"]


def test_a_fingerprint_follows_content_and_place(tmp_path: Path) -> None:
    _write(tmp_path, {"index.html": _page("Start", '<a href="b.html">b</a>'), "c.html": _page("C")})
    marks = {one.document_id: one.fingerprint for one in _read(tmp_path).documents}
    assert marks == {one.document_id: one.fingerprint for one in _read(tmp_path).documents}
    _write(tmp_path, {"b.html": _page("B")})
    after = {one.document_id: one.fingerprint for one in _read(tmp_path).documents}
    assert after["index"] != marks["index"]  # its link leads somewhere now
    assert after["c"] == marks["c"]
    moved = {one.document_id: one.fingerprint for one in _read(tmp_path, "https://x.org").documents}
    assert not set(moved.values()) & set(after.values())


@pytest.mark.parametrize("name", ["missing", "empty", "generated"])
def test_a_folder_without_pages_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    _write(tmp_path / "generated", {"404.html": _page("No")})
    with pytest.raises(UnreadableBook) as raised:
        _read(tmp_path / name)
    assert raised.value.help_message


def test_reading_a_page_without_text_raises(tmp_path: Path) -> None:
    _write(
        tmp_path,
        {"index.html": _page("Start"), "app.html": "<div id=root></div><script>x</script>"},
    )
    empty = _read(tmp_path).documents[1]
    with pytest.raises(UnreadableBook, match="has no text"):
        empty.read()
